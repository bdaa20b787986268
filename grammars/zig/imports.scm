; `@import` is an expression. The places where it stands are listed, so that one of them is one import.
(variable_declaration . (identifier) @import.alias
  (builtin_function (builtin_identifier) @_import
    (arguments (string (string_content) @import.module)))
  (#eq? @_import "@import")) @import
(field_expression object: (builtin_function (builtin_identifier) @_import
    (arguments (string (string_content) @import.module)))
  member: (identifier) @import.name
  (#eq? @_import "@import")) @import
(using_namespace_declaration (builtin_function (builtin_identifier) @_import
    (arguments (string (string_content) @import.module)))
  (#eq? @_import "@import")) @import
(call_expression (builtin_function (builtin_identifier) @_import
    (arguments (string (string_content) @import.module)))
  (#eq? @_import "@import")) @import
(return_expression (builtin_function (builtin_identifier) @_import
    (arguments (string (string_content) @import.module)))
  (#eq? @_import "@import")) @import
(builtin_function (builtin_identifier) @_include (arguments (string (string_content) @import.module))
  (#any-of? @_include "@cInclude" "@embedFile")) @import
