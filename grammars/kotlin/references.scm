(call_expression . (identifier) @callee) @call
(call_expression . (navigation_expression . (_) @receiver (identifier) @callee .)) @call
(infix_expression . (_) @receiver . (identifier) @callee) @call
(delegation_specifier (constructor_invocation . (user_type (identifier) @callee .))) @call
(constructor_delegation_call ["this" "super"] @callee) @call
; ::f, A::f
(callable_reference . (identifier) @callee .) @call
(navigation_expression . (_) @receiver "::" . (identifier) @callee .) @call

(class_declaration (delegation_specifiers (delegation_specifier
  [(user_type) @base (constructor_invocation . (user_type) @base) (explicit_delegation . (user_type) @base)])))
(object_declaration (delegation_specifiers (delegation_specifier
  [(user_type) @base (constructor_invocation . (user_type) @base) (explicit_delegation . (user_type) @base)])))
(companion_object name: (_) (delegation_specifiers (delegation_specifier
  [(user_type) @base (constructor_invocation . (user_type) @base) (explicit_delegation . (user_type) @base)])))
; An element of a table of functions.
(call_expression . [
  (index_expression . [(identifier) @callee (navigation_expression . (_) @receiver (identifier) @callee .)]) @element
  (unary_expression (index_expression . [(identifier) @callee (navigation_expression . (_) @receiver (identifier) @callee .)])) @element]) @call
