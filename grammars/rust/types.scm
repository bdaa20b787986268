(parameter pattern: (identifier) @typed.name type: (_) @typed.type) @typed
(parameter pattern: (_ (identifier) @typed.name)) @typed
(closure_parameters (identifier) @typed.name) @typed
(field_declaration name: (_) @typed.name type: (_) @typed.type) @typed
(const_item name: (_) @typed.name type: (_) @typed.type) @typed
(static_item name: (_) @typed.name type: (_) @typed.type) @typed

(let_declaration pattern: (identifier) @typed.name type: (_) @typed.type) @typed
(let_declaration pattern: (identifier) @typed.name !type value: (_) @typed.value) @typed
; An Option or a Result is what it holds.
((_ pattern: (tuple_struct_pattern type: (_) @_type . (identifier) @typed.name .) value: (_) @typed.value) @typed
  (#any-of? @_type "Some" "Ok"))
((tuple_struct_pattern type: (_) @_type (identifier) @typed.name) @typed (#not-any-of? @_type "Some" "Ok"))
(tuple_pattern (identifier) @typed.name) @typed
(let_declaration pattern: (tuple_pattern (identifier) @typed.name) @typed.tuple value: (_) @typed.value) @typed
(field_pattern name: (shorthand_field_identifier) @typed.name) @typed
(field_pattern pattern: (identifier) @typed.name) @typed
(for_expression pattern: (identifier) @typed.name value: (_) @typed.each) @typed

(function_item return_type: (_) @typed.return) @typed
(function_signature_item return_type: (_) @typed.return) @typed

(source_file (type_item name: (_) @typed.alias type: (_) @typed.type) @typed)
; A type parameter has the members of its bounds.
(type_parameter name: (_) @typed.alias
  bounds: (_ [(type_identifier) (generic_type) (scoped_type_identifier)] @typed.type)) @typed
(where_predicate left: (type_identifier) @typed.alias
  bounds: (_ [(type_identifier) (generic_type) (scoped_type_identifier)] @typed.type)) @typed
(for_expression pattern: (tuple_pattern (identifier) @typed.name .) value: (_) @typed.each) @typed
