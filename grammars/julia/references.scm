(call_expression . (identifier) @callee) @call
(call_expression . (field_expression value: (_) @receiver (identifier) @callee .)) @call
(call_expression . (parametrized_type_expression . (identifier) @callee)) @call
(broadcast_call_expression . (identifier) @callee) @call
(broadcast_call_expression . (field_expression value: (_) @receiver (identifier) @callee .)) @call
(macrocall_expression (macro_identifier (identifier) @callee)) @call

(type_head (binary_expression (_) [(identifier) @base (parametrized_type_expression . (identifier) @base)] .))
