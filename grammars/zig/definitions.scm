; `const A = struct { … }`, and the type that a generic function returns: `fn List(comptime T: type) type { … }`.
(variable_declaration ["const" "var"] . (identifier) @name (struct_declaration "{" @body)) @definition.struct
(variable_declaration ["const" "var"] . (identifier) @name (union_declaration "{" @body)) @definition.union
(variable_declaration ["const" "var"] . (identifier) @name (enum_declaration "{" @body)) @definition.enum
(variable_declaration ["const" "var"] . (identifier) @name (error_set_declaration "{" @body)) @definition.enum
(variable_declaration ["const" "var"] . (identifier) @name (opaque_declaration "{" @body)) @definition.struct
(function_declaration name: (identifier) @name
  body: (block (expression_statement (return_expression [(struct_declaration) (opaque_declaration)])))) @definition.struct
(function_declaration name: (identifier) @name
  body: (block (expression_statement (return_expression (union_declaration))))) @definition.union
(function_declaration name: (identifier) @name
  body: (block (expression_statement (return_expression (enum_declaration))))) @definition.enum

(function_declaration name: (identifier) @name) @definition.function
(test_declaration (string (string_content) @name) (block) @body) @definition.function
(test_declaration (identifier) @name (block) @body) @definition.function

(enum_declaration (container_field name: (identifier) @name (#not-eq? @name "_")) @definition.enum_member)
(variable_declaration (error_set_declaration (identifier) @name @definition.enum_member))
(container_field name: (identifier) @name) @definition.field

; In a file or a type; what is in a block is local. `const a = @import("a.zig");` is an import, with `pub` both.
([
  (source_file (variable_declaration "const" . (identifier) @name) @definition.constant)
  (struct_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (union_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (enum_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (opaque_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
] (#not-match? @definition.constant "^const\\s+\\w+\\s*=\\s*@import\\(\"[^\"]*\"\\)(\\.\\w+)*\\s*;"))
(source_file (variable_declaration "var" . (identifier) @name) @definition.variable)
(struct_declaration (variable_declaration "var" . (identifier) @name) @definition.variable)

(comment) @comment
