((_ method: (identifier) @_import
  arguments: (_ . (simple_symbol)? @import.name . (string (string_content) @import.module) .)) @import
  (#any-of? @_import "require" "require_relative" "load" "autoload"))
