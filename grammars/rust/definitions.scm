[(function_item name: (identifier) @name) (function_signature_item name: (identifier) @name)] @definition.function
; The fields of `struct P(i32, i32);` belong to the signature.
(struct_item name: (type_identifier) @name body: (ordered_field_declaration_list) ";" @body) @definition.struct
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.union
(enum_item name: (type_identifier) @name) @definition.enum
(enum_variant name: (identifier) @name) @definition.enum_member @body
(field_declaration name: (field_identifier) @name) @definition.field
(trait_item name: (type_identifier) @name) @definition.trait
[(type_item name: (type_identifier) @name) (associated_type name: (type_identifier) @name)] @definition.type
(const_item name: (identifier) @name (#not-eq? @name "_")) @definition.constant
(static_item name: (identifier) @name) @definition.variable
(macro_definition name: (identifier) @name ["{" "(" "["] @body) @definition.macro
(mod_item name: (identifier) @name) @definition.module

; `impl<T> fmt::Display for Wrapper<'_, T>`: the members belong to Wrapper. A type without a name of its own (a tuple,
; a slice, `dyn A`) gives its text.
(impl_item type: [
  (type_identifier) @name
  (primitive_type) @name
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
  (scoped_type_identifier name: (type_identifier) @name)
  (reference_type type: [
    (type_identifier) @name
    (primitive_type) @name
    (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
    (scoped_type_identifier name: (type_identifier) @name)
    (dynamic_type trait: (_) @name)
    (array_type element: (_) @name)])
  (pointer_type type: (_) @name)
  (array_type element: (_) @name)
  (dynamic_type trait: (_) @name)
  (bounded_type . (dynamic_type trait: (_) @name))
]) @scope
(impl_item trait: (_) @name type: [(tuple_type) (unit_type) (never_type) (function_type)]) @scope

(closure_expression) @local

(line_comment !inner) @comment
(block_comment !inner) @comment
(attribute_item) @attribute

; Inside a macro call the grammar has tokens only: items in `cfg_if! { … }` are found by their keywords. A definition
; reaches from its keyword to its body. An anchor skips anonymous tokens, so only the named ones between are listed.
(token_tree "fn" @definition.function . (identifier) @name . [(identifier) (primitive_type) (self) (crate) (mutable_specifier) (integer_literal) (token_tree . ["(" "["])]*
  . [(token_tree . "{") ";"] @definition.function @body)
(token_tree "struct" @definition.struct . (identifier) @name . [(identifier) (primitive_type) (self) (crate) (mutable_specifier) (integer_literal) (token_tree . ["(" "["])]*
  . [(token_tree . "{") ";"] @definition.struct @body)
(token_tree "enum" @definition.enum . (identifier) @name . [(identifier) (primitive_type) (integer_literal)]*
  . (token_tree . "{") @definition.enum @body)
(token_tree "trait" @definition.trait . (identifier) @name . [(identifier) (primitive_type) (self) (crate) (mutable_specifier) (integer_literal) (token_tree . ["(" "["])]*
  . (token_tree . "{") @definition.trait @body)
(token_tree "mod" @definition.module . (identifier) @name . [(token_tree . "{") ";"] @definition.module @body)
(token_tree "type" @definition.type . (identifier) @name @definition.type . ["=" ":" ";" "<"])
(token_tree "const" @definition.constant . (identifier) @name @definition.constant . ":")
(token_tree "static" @definition.variable . (identifier) @name @definition.variable . ":")
(token_tree "impl" @scope . [(identifier) (primitive_type) (integer_literal)]* . "for" . (identifier) @name . [(identifier) (primitive_type) (integer_literal)]* . (token_tree . "{") @scope)
(token_tree "impl" @scope . (identifier) @name . (token_tree . "{") @scope)
(token_tree "impl" @scope . "<" . [(identifier) (primitive_type) (integer_literal)]* . ">" . (identifier) @name . "<" . [(identifier) (primitive_type) (integer_literal)]* . (token_tree . "{") @scope)
(token_tree "#" @attribute . (token_tree . "["))
