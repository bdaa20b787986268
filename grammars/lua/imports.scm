; `require` is a function. Each place it can stand in is listed, so that one call is one import.
(assignment_statement
  (variable_list . name: [(identifier) @import.alias (dot_index_expression field: (identifier) @import.alias)])
  (expression_list . value: (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))))
  (#eq? @_require "require")) @import
(dot_index_expression
  table: (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module)))
  field: (identifier) @import.name
  (#eq? @_require "require")) @import
(chunk (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import (#eq? @_require "require"))
(block (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import (#eq? @_require "require"))
(arguments (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import (#eq? @_require "require"))
(field value: (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import (#eq? @_require "require"))
(method_index_expression table: (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import (#eq? @_require "require"))
(function_call name: (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import (#eq? @_require "require"))
(binary_expression (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import (#eq? @_require "require"))
(return_statement (expression_list (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.module))) @import) (#eq? @_require "require"))
(function_call name: (identifier) @_pcall
  arguments: (arguments . (identifier) @_require . (string content: (string_content) @import.module))
  (#any-of? @_pcall "pcall" "prequire") (#eq? @_require "require")) @import
