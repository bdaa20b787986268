; Functions in fields: T{Open: f}, []T{{Open: f}}, map[K]T{k: {Open: f}}, x.Open = f.
(composite_literal type: (_) @stored.owner body: (literal_value (keyed_element
  key: (literal_element (identifier) @stored.field)
  value: (literal_element [(identifier) (selector_expression)] @stored.value)))) @stored
(composite_literal type: [(slice_type element: (_) @stored.owner) (array_type element: (_) @stored.owner)
    (map_type value: (_) @stored.owner) (implicit_length_array_type element: (_) @stored.owner)]
  body: (literal_value [
    (literal_element (literal_value (keyed_element key: (literal_element (identifier) @stored.field)
      value: (literal_element [(identifier) (selector_expression)] @stored.value))))
    (keyed_element value: (literal_element (literal_value (keyed_element
      key: (literal_element (identifier) @stored.field)
      value: (literal_element [(identifier) (selector_expression)] @stored.value)))))])) @stored
(assignment_statement
  left: (expression_list . (selector_expression operand: (_) @stored.object field: (_) @stored.field) .)
  right: (expression_list . [(identifier) (selector_expression)] @stored.value .)) @stored
; Tables of functions.
(var_spec name: (identifier) @stored.variable value: (expression_list (composite_literal
  type: [(map_type) (slice_type) (array_type) (implicit_length_array_type)]
  body: (literal_value [
    (literal_element [(identifier) (selector_expression) (func_literal)] @stored.value)
    (keyed_element value: (literal_element [(identifier) (selector_expression) (func_literal)] @stored.value))])))) @stored
(short_var_declaration left: (expression_list . (identifier) @stored.variable) right: (expression_list (composite_literal
  type: [(map_type) (slice_type) (array_type) (implicit_length_array_type)]
  body: (literal_value [
    (literal_element [(identifier) (selector_expression) (func_literal)] @stored.value)
    (keyed_element value: (literal_element [(identifier) (selector_expression) (func_literal)] @stored.value))])))) @stored
(assignment_statement
  left: (expression_list . (index_expression operand: (identifier) @stored.variable) .)
  right: (expression_list . [(identifier) (selector_expression)] @stored.value .)) @stored
; Functions without a name, and tables in fields.
(assignment_statement left: (expression_list . (_) @stored.into .)
  right: (expression_list . [(func_literal) (composite_literal type: [(map_type) (slice_type) (array_type)])] @stored.tree .)) @stored
(assignment_statement left: (expression_list . (index_expression operand: (selector_expression) @stored.into) .)
  right: (expression_list . [(identifier) (selector_expression)] @stored.tree .)) @stored
(short_var_declaration left: (expression_list . (identifier) @stored.into @stored.declared .)
  right: (expression_list . (func_literal) @stored.tree .)) @stored
(var_spec name: (identifier) @stored.into @stored.declared value: (expression_list . (func_literal) @stored.tree .)) @stored
(composite_literal type: (_) @stored.owner body: (literal_value (keyed_element
  key: (literal_element (identifier) @stored.field)
  value: (literal_element (func_literal) @stored.value)))) @stored
; Structs without the names of their fields.
(composite_literal type: (type_identifier) @stored.record
  body: (literal_value (literal_element [(identifier) (selector_expression) (func_literal)])) @stored.places) @stored
(composite_literal type: [(slice_type element: (type_identifier) @stored.record)
    (array_type element: (type_identifier) @stored.record) (map_type value: (type_identifier) @stored.record)
    (implicit_length_array_type element: (type_identifier) @stored.record)]
  body: (literal_value [
    (literal_element (literal_value (literal_element [(identifier) (selector_expression) (func_literal)])) @stored.places)
    (keyed_element value: (literal_element
      (literal_value (literal_element [(identifier) (selector_expression) (func_literal)])) @stored.places))])) @stored
; Tables of structs whose type has no name.
([(var_spec name: (identifier) @stored.into @stored.declared value: (expression_list (composite_literal
    type: (slice_type element: (struct_type (field_declaration_list (field_declaration type: (function_type))))))  @stored.tree))
  (short_var_declaration left: (expression_list . (identifier) @stored.into @stored.declared) right: (expression_list (composite_literal
    type: (slice_type element: (struct_type (field_declaration_list (field_declaration type: (function_type))))))  @stored.tree))] @stored)
; f(func() { g() })
(call_expression function: [(identifier) @stored.callee
    (selector_expression operand: (_) @stored.object field: (_) @stored.callee)]
  arguments: (argument_list (func_literal) @stored.passed) @stored.arguments) @stored
