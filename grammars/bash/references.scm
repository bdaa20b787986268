((command_name (word) @callee) @call
  (#not-match? @callee "[^\\w:.-]|^(?:\\.|:|alias|break|builtin|cd|continue|echo|exit|false|getopts|load|printf|pwd|return|set|shift|shopt|source|test|trap|true|type|wait)$"))
; "$1" x, run_$name x: the name is computed.
((command_name [
  (simple_expansion "$" @callee) (expansion "${" @callee)
  (_ [(simple_expansion "$" @callee) (expansion "${" @callee)])] @_name) @call (#not-match? @_name "/"))
; trap f EXIT, time f, and bats' run f
((command name: (_ (word) @_prefix) . argument: (word) @callee) @call
  (#any-of? @_prefix "trap" "time" "run" "coproc") (#match? @callee "^[A-Za-z_][\\w:.-]*$"))
