(invocation_expression function: [
  (identifier) @callee
  (generic_name . (identifier) @callee)
  (_ expression: (_) @receiver name: [(identifier) @callee (_ . (identifier) @callee)])
  (_ condition: (_) @receiver (member_binding_expression name: [(identifier) @callee (_ . (identifier) @callee)]))]) @call
(object_creation_expression type: [
  (identifier) @callee
  (generic_name . (identifier) @callee)
  (_ qualifier: (_) @receiver name: [(identifier) @callee (_ . (identifier) @callee)])]) @call

(base_list [
  (identifier) @base
  (generic_name) @base
  (qualified_name) @base
  (primary_constructor_base_type type: (_) @base)])
