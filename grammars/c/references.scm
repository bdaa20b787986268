(call_expression function: (identifier) @callee) @call
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @callee)) @call
; (f)(x), (*fp)(x)
(call_expression function: (parenthesized_expression [
  (identifier) @callee
  (pointer_expression argument: (identifier) @callee)])) @call
