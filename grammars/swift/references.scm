; One pattern for the three forms, f(), a.f() and .f(): queries on call_expression are slow to compile.
; In .f() the receiver is a type that is not written; it is the dot, which says that this is no f().
; An index, a[1], is a call to the grammar too; a( and a { are what makes it one.
(call_expression . [
  (simple_identifier) @callee
  (navigation_expression . (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @callee))
  (prefix_expression operation: "." @receiver target: (simple_identifier) @callee)
] . (call_suffix [(lambda_literal) (value_arguments "(")])) @call
(constructor_expression (user_type (type_identifier) @callee . (type_arguments))) @call
(macro_invocation . (simple_identifier) @callee) @call

(inheritance_specifier inherits_from: (_) @base)
