; A definition reaches from its keyword to its end, so that those joined by `and` lie side by side. A `_` in place of the
; inner parent makes the query cheap to compile.

; let f x = …, let ( + ) : int -> int -> int = …
(value_definition ["let" "and"] @definition.function . (_
  . [(value_name) @name (parenthesized_operator (_) @name)]
  [(parameter) (function_type) (polymorphic_type (function_type))] "=" @body) @definition.function)
; let f = fun x -> …, let f = function …
(value_definition ["let" "and"] @definition.function . (_
  . [(value_name) @name (parenthesized_operator (_) @name)]
  "=" . [(fun_expression "->" @body) (function_expression) @body]) @definition.function)
; let%test "adds" = …, let%template f x = …
(value_definition "let" @definition.function [(attribute_id) (attribute)] . (_
  . [(string (string_content) @name) ((value_name) @name . (parameter))] "=" @body) @definition.function)
(external . [(value_name) @name (parenthesized_operator (_) @name)]) @definition.function
; val f : int -> int, val x : int
(value_specification . [(value_name) @name (parenthesized_operator (_) @name)]
  [(function_type) (polymorphic_type (function_type))]) @definition.function
(value_specification . [(value_name) @name (parenthesized_operator (_) @name)]) @definition.variable
; let x = 1, let a, b = 1, 2. What `let … in` binds is local.
(value_definition ["let" "and"] @definition.variable . (_
  . [(value_name) @name (parenthesized_operator (_) @name)]) @definition.variable)
(value_definition ["let" "and"] @definition.variable . (_ pattern: (_ (value_name) @name)) @definition.variable)
(let_expression) @local

(type_definition ["type" "and"] @definition.struct . (_ name: (type_constructor) @name (record_declaration) @body)
  @definition.struct)
(type_definition ["type" "and"] @definition.enum . (_ name: (type_constructor) @name
  [(variant_declaration) (polymorphic_variant_type)] @body) @definition.enum)
(type_definition ["type" "and"] @definition.type . (_ name: (type_constructor) @name) @definition.type)
; type event += Late of int
(_ name: (type_constructor_path (type_constructor) @name)) @scope
(exception_definition (_ (constructor_name) @name)) @definition.class
(constructor_declaration (constructor_name) @name) @definition.enum_member
(tag_specification (tag) @name) @definition.enum_member
(field_declaration (field_name) @name) @definition.field

; `module L = List` is an import.
(module_definition ["module" "and"] @definition.module . (_ . (module_name) @name [(signature) (structure)] @body)
  @definition.module)
(module_definition ["module" "and"] @definition.module . (_ . (module_name) @name [(module_parameter) module_type: (_)])
  @definition.module)
(module_definition ["module" "and"] @definition.module . (_ . (module_name) @name body: (_) @_body)
  @definition.module (#not-match? @_body "^[A-Z][\\w'.]*$"))
(module_definition "module" @definition.module [(attribute_id) (attribute)] . (_ . (module_name) @name)
  @definition.module)
(module_type_definition (module_type_name) @name body: (_)? @body) @definition.interface

(class_definition ["class" "and"] @definition.class . (_ (class_name) @name ["=" ":"] @body) @definition.class)
(class_type_definition ["class" "and"] @definition.interface . (_ (class_type_name) @name "=" @body)
  @definition.interface)
(method_definition (method_name) @name) @definition.method
(method_specification (method_name) @name) @definition.method
(instance_variable_definition (instance_variable_name) @name) @definition.field
(instance_variable_specification (instance_variable_name) @name) @definition.field

(comment) @comment
