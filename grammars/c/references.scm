(call_expression function: (identifier) @callee) @call
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @callee)) @call
; (*fp)(x)
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @callee))) @call
