(call_expression function: [
  (identifier) @callee
  (field_expression object: (_)? @receiver member: (identifier) @callee)
]) @call
