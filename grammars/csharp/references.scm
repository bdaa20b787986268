(invocation_expression function: [
  (identifier) @callee
  (_ !qualifier !name !expression . (identifier) @callee (type_argument_list))
  (_ expression: (_) @receiver name: [(identifier) @callee (_ . (identifier) @callee (type_argument_list))])
  (_ condition: (_) @receiver (_ name: [(identifier) @callee (_ . (identifier) @callee (type_argument_list))]))]) @call
(object_creation_expression type: [
  (identifier) @callee
  (_ !qualifier !name !expression . (identifier) @callee (type_argument_list))
  (_ qualifier: (_) @receiver name: [(identifier) @callee (_ . (identifier) @callee (type_argument_list))])]) @call

(base_list [
  (identifier) @base
  (generic_name) @base
  (qualified_name) @base
  (_ type: (_) @base)])
