(call_expression function: (identifier) @callee) @call
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @callee)) @call
; (f)(x), (*fp)(x)
(call_expression function: (parenthesized_expression [
  (identifier) @callee
  (pointer_expression argument: (identifier) @callee)])) @call
; A name as a whole statement is a macro.
(expression_statement . (identifier) @callee .) @call
; A block after a macro with one argument, `guard(lock) {`, looks like a function.
(compound_statement (function_definition type: (type_identifier) @callee declarator: (parenthesized_declarator)) @call)
; Through a pointer in a field or in a table: (*x->f)(), (x->f)(), t[i](), x->t[i](), (*t[i])().
(call_expression function: (parenthesized_expression [
  (field_expression argument: (_) @receiver field: (field_identifier) @callee)
  (pointer_expression argument: (field_expression argument: (_) @receiver field: (field_identifier) @callee))
  (pointer_expression argument: (subscript_expression argument: (identifier) @callee))])) @call
(call_expression function: (subscript_expression argument: [
  (identifier) @callee
  (field_expression argument: (_) @receiver field: (field_identifier) @callee)])) @call
