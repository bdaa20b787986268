((command_name (word) @callee) @call
  (#not-match? @callee "[^\\w:.-]|^(?:\\.|:|alias|break|builtin|cd|continue|echo|eval|exit|false|getopts|load|printf|pwd|return|set|shift|shopt|source|test|trap|true|type|wait)$"))
; trap f EXIT, time f, and bats' run f
((command name: (_ (word) @_prefix) . argument: (word) @callee) @call
  (#any-of? @_prefix "trap" "time" "run" "coproc") (#match? @callee "^[A-Za-z_][\\w:.-]*$"))
