; `(_ object: (_) property: (_))` is a member expression; its name would cost more to compile.
(call_expression function: (identifier) @callee) @call
(call_expression function: (_ object: (_) @receiver property: (_) @callee)) @call
(new_expression constructor: (identifier) @callee) @call
(new_expression constructor: (_ object: (_) @receiver property: (_) @callee)) @call
(decorator (identifier) @callee) @call
(decorator (_ object: (_) @receiver property: (_) @callee)) @call

(extends_clause value: (_) @base)
(implements_clause (_) @base)
(extends_type_clause type: (_) @base)
