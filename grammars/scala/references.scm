(call_expression function: [
  (identifier) @callee
  (field_expression value: (_) @receiver field: (_) @callee)
  (generic_function function: [(identifier) @callee (field_expression value: (_) @receiver field: (_) @callee)])
]) @call
(infix_expression left: (_) @receiver operator: (identifier) @callee) @call
(instance_expression [
  (type_identifier) @callee
  (generic_type type: (type_identifier) @callee)
  (stable_type_identifier (type_identifier) @callee)
]) @call
(extends_clause [(type_identifier) @callee (generic_type type: (type_identifier) @callee)] . arguments: (_)) @call

(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)
(given_definition return_type: [(type_identifier) (generic_type)] @base body: (with_template_body))
