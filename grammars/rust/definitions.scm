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

; `impl<T> fmt::Display for Wrapper<'_, T>`: the members belong to Wrapper. A type without a name of its own stands in
; with that of its elements, or, if it is a tuple or a pointer, with the trait's.
(impl_item type: [
  (type_identifier) @name
  (primitive_type) @name
  (scoped_type_identifier) @name
  (generic_type type: (_) @name)
  (reference_type type: (_) @name)
  (array_type element: (_) @name)
  (dynamic_type trait: (_) @name)
]) @scope
(impl_item trait: (_) @name
  type: [(tuple_type) (unit_type) (never_type) (function_type) (pointer_type) (bounded_type)]) @scope

(closure_expression) @local

(line_comment !inner) @comment @text
(block_comment !inner) @comment @text
(attribute_item) @attribute

; In the arguments of a macro the grammar has tokens only: the items in `cfg_if! { … }` are found by their keywords.
; Such a definition reaches from its keyword to its body. The tokens between are listed, which ends the search at `;`
; and at the next block; an unlisted one only loses the definition.
(token_tree "fn" @definition.function . (identifier) @name . [(identifier) (primitive_type) (integer_literal) "<" ">"
    ">>" "," "'" ":" "::" "+" "where" "&" "=" "?" "static" "dyn"
  (self) (crate) (mutable_specifier) (token_tree . "(") (token_tree . "[") "->" "impl" "for" "!" "*" "const"]*
  . [(token_tree . "{") ";"] @definition.function @body)
(token_tree "struct" @definition.struct . (identifier) @name . [(identifier) (primitive_type) (integer_literal) "<"
    ">" ">>" "," "'" ":" "::" "+" "where" "&" "=" "?" "static" "dyn"]* . [(token_tree) ";"] @definition.struct @body)
(token_tree "enum" @definition.enum . (identifier) @name . [(identifier) "<" ">" "," "'" ":" "+" "where"]*
  . (token_tree) @definition.enum @body)
(token_tree "trait" @definition.trait . (identifier) @name . [(identifier) (primitive_type) (integer_literal) "<" ">"
    ">>" "," "'" ":" "::" "+" "where" "&" "=" "?" "static" "dyn" "for"]* . (token_tree) @definition.trait @body)
(token_tree "mod" @definition.module . (identifier) @name . [(token_tree) ";"] @definition.module @body)
(token_tree "type" @definition.type . (identifier) @name @definition.type . ["=" ":" ";" "<"])
(token_tree "const" @definition.constant . (identifier) @name @definition.constant . ":" (#not-eq? @name "_"))
(token_tree "static" @definition.variable . (identifier) @name @definition.variable . ":")
(token_tree "for" @scope . "&"? . [(identifier) (primitive_type)] @name . [(identifier) (primitive_type) (integer_literal) "<" ">" ">>" "," "'"
    ":" "::" "+" "where" "&" "=" "?" "static" "dyn"]* . (token_tree) @scope)
(token_tree "for" @scope . "&"? . (token_tree . "&"? . [(identifier) (primitive_type)] @name) . (token_tree . "{") @scope)
(token_tree "impl" @scope . (identifier) @name . (token_tree) @scope)
(token_tree "impl" @scope . (identifier) @name . "<" . [(identifier) (primitive_type) (integer_literal) "<" ">" ">>"
    "," "'" ":" "::" "+" "where" "&" "=" "?" "static" "dyn"]* . (token_tree) @scope)
(token_tree "impl" @scope . "<" . [(identifier) (primitive_type) (integer_literal) "<" ">" ">>" "," "'" ":" "::" "+"
    "where" "&" "=" "?" "static" "dyn"]* . ">" . (identifier) @name . "<" . [(identifier) (primitive_type)
    (integer_literal) "<" ">" ">>" "," "'" ":" "::" "+" "where" "&" "=" "?" "static" "dyn"]* . (token_tree) @scope)
(token_tree "#" . (token_tree . "[") @attribute)
