(variable_declaration . (identifier) @name (struct_declaration)) @definition.struct
(variable_declaration . (identifier) @name (union_declaration)) @definition.union
(variable_declaration . (identifier) @name (enum_declaration)) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration)) @definition.enum
(variable_declaration . (identifier) @name (opaque_declaration)) @definition.struct
; A generic type is a function that returns it: `fn List(comptime T: type) type { return struct { … }; }`.
(function_declaration name: (identifier) @name body: (block (expression_statement (return_expression
  [(struct_declaration) (union_declaration) (enum_declaration)])))) @definition.struct

(function_declaration name: (identifier) @name) @definition.function
(test_declaration (string . (string_content) @name) (block) @body) @definition.function
(test_declaration (identifier) @name (block) @body) @definition.function

(enum_declaration (container_field name: (identifier) @name (#not-eq? @name "_")) @definition.enum_member)
(variable_declaration (error_set_declaration (identifier) @name @definition.enum_member))
(container_field name: (identifier) @name (#not-eq? @name "_")) @definition.field

; In a file or a type; what is in a block is local. `const a = @import("a.zig");` is an import, with `pub` it is both;
; `const Self = @This();` is in every other type.
([
  (source_file (variable_declaration "const" . (identifier) @name) @definition.constant)
  (struct_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (union_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (enum_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
] (#not-match? @definition.constant
    "^const\\s+(Self\\s*=\\s*@This\\(|\\w+\\s*=\\s*@import\\(\"[^\"]*\"\\)(\\.\\w+)*\\s*;)"))
(source_file (variable_declaration "var" . (identifier) @name) @definition.variable)
(struct_declaration (variable_declaration "var" . (identifier) @name) @definition.variable)

(comment) @comment
