; Parameters, receivers and named results, but not those inside a function's type, which name nothing here.
(function_declaration (parameter_list (parameter_declaration name: (identifier) @typed.name type: (_) @typed.type) @typed))
(method_declaration (parameter_list (parameter_declaration name: (identifier) @typed.name type: (_) @typed.type) @typed))
(func_literal (parameter_list (parameter_declaration name: (identifier) @typed.name type: (_) @typed.type) @typed))
(variadic_parameter_declaration name: (identifier) @typed.name) @typed

; `item, err := f()`: the first name has the first result; the others only hide what is called so outside.
((short_var_declaration left: (_ . (identifier) @typed.name) right: (_ . (_) @typed.value)) @typed
  (#not-match? @typed.value "\\.\\([^()]*\\)$"))
(short_var_declaration left: (_ . (identifier) @typed.name)
  right: (_ . (type_assertion_expression type: (_) @typed.type))) @typed
(short_var_declaration left: (_ . (_) . (identifier) @typed.name) right: (_ . (_) .)) @typed
(short_var_declaration left: (_ . (_) . (identifier) @typed.name) right: (_ . (_) . (_) @typed.value)) @typed
(short_var_declaration left: (_ . (_) . (_) . (identifier) @typed.name)) @typed
(var_spec name: (identifier) @typed.name type: (_) @typed.type) @typed
(var_spec !type . name: (identifier) @typed.name value: (_ . (_) @typed.value)) @typed
; A literal says of what it is.
(short_var_declaration left: (_ . (identifier) @typed.name)
  right: (_ . (composite_literal type: [(slice_type) (map_type) (array_type)] @typed.type) .)) @typed
(var_spec !type . name: (identifier) @typed.name
  value: (_ . (composite_literal type: [(slice_type) (map_type) (array_type)] @typed.type) .)) @typed
(range_clause left: (_ . (identifier) @typed.name)) @typed
(range_clause left: (_ . (_) . (identifier) @typed.name) right: (_) @typed.each) @typed
(range_clause left: (_ . (_) . (identifier) @typed.name) right: (composite_literal type: [
  (slice_type element: (_) @typed.type)
  (array_type element: (_) @typed.type)
  (map_type value: (_) @typed.type)])) @typed
(receive_statement left: (_ . (identifier) @typed.name) right: (_ operand: (_) @typed.each)) @typed
; One name, and the type of each case.
(type_switch_statement alias: (_ (identifier) @typed.name) (type_case type: (_) @typed.type)) @typed

(field_declaration name: (field_identifier) @typed.name type: (_) @typed.type) @typed
; An embedded type is a field of its own name.
(field_declaration !name type: [
  (type_identifier) @typed.name
  (qualified_type name: (type_identifier) @typed.name)
  (generic_type type: (type_identifier) @typed.name)
  (generic_type type: (qualified_type name: (type_identifier) @typed.name))] @typed.type) @typed

(function_declaration result: [(type_identifier) (qualified_type) (generic_type) (pointer_type) (slice_type) (map_type)
  (channel_type)] @typed.return) @typed
(function_declaration result: (parameter_list . (_ type: (_) @typed.return))) @typed
(method_declaration result: [(type_identifier) (qualified_type) (generic_type) (pointer_type) (slice_type) (map_type)
  (channel_type)] @typed.return) @typed
(method_declaration result: (parameter_list . (_ type: (_) @typed.return))) @typed
(method_elem result: [(type_identifier) (qualified_type) (generic_type) (pointer_type) (slice_type) (map_type)
  (channel_type)] @typed.return) @typed
(method_elem result: (parameter_list . (_ type: (_) @typed.return))) @typed

(type_alias name: (_) @typed.alias type: (_) @typed.type) @typed
(type_spec name: (_) @typed.alias type: [(type_identifier) (qualified_type) (generic_type) (pointer_type) (slice_type)
  (array_type) (map_type) (channel_type)] @typed.type) @typed
(type_parameter_declaration name: (_) @typed.alias type: (_) @typed.type) @typed
; In a case, the name has the type of the case.
(type_switch_statement alias: (_ (identifier) @narrowed.name)
  (type_case type: (_) @narrowed.type (statement_list) @narrowed.body)) @narrowed
