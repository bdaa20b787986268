(call_expression function: (identifier) @callee) @call
(call_expression function: (field_expression object: (_) @receiver member: (identifier) @callee)) @call
(call_expression function: (field_expression !object member: (identifier) @callee)) @call
