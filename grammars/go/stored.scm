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
    (literal_element [(identifier) (selector_expression)] @stored.value)
    (keyed_element value: (literal_element [(identifier) (selector_expression)] @stored.value))])))) @stored
(short_var_declaration left: (expression_list . (identifier) @stored.variable) right: (expression_list (composite_literal
  type: [(map_type) (slice_type) (array_type) (implicit_length_array_type)]
  body: (literal_value [
    (literal_element [(identifier) (selector_expression)] @stored.value)
    (keyed_element value: (literal_element [(identifier) (selector_expression)] @stored.value))])))) @stored
(assignment_statement
  left: (expression_list . (index_expression operand: (identifier) @stored.variable) .)
  right: (expression_list . [(identifier) (selector_expression)] @stored.value .)) @stored
