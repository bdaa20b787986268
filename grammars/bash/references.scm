((command_name (word) @callee) @call
  (#not-match? @callee "[^\\w:.-]|^(?:\\.|:|alias|break|builtin|cd|continue|echo|eval|exit|false|getopts|load|printf|pwd|return|set|shift|shopt|source|test|trap|true|type|wait)$"))
