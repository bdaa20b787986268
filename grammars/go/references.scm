(call_expression function: (identifier) @callee) @call
(call_expression function: (selector_expression operand: (_) @receiver field: (field_identifier) @callee)) @call
; The grammar reads `f[T](x)` as a conversion.
(type_conversion_expression type: (generic_type type: (type_identifier) @callee)) @call
(type_conversion_expression type: (generic_type type: (qualified_type
  package: (package_identifier) @receiver name: (type_identifier) @callee))) @call

; Embedded types.
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base))))
(type_spec type: (interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @base .)))
; An element of a table of functions.
(call_expression function: (index_expression operand: [
  (identifier) @callee
  (selector_expression operand: (_) @receiver field: (field_identifier) @callee)])) @call
