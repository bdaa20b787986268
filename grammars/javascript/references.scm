; `(_ object: (_) property: (_))` is a member expression; its name would cost more to compile.
(call_expression function: (identifier) @callee) @call
(call_expression function: (_ object: (_) @receiver property: (_) @callee)) @call
(new_expression constructor: (identifier) @callee) @call
(new_expression constructor: (_ object: (_) @receiver property: (_) @callee)) @call
; w["close"](), and w[name](): the name is computed.
(call_expression function: (subscript_expression object: (_) @receiver index: (string (string_fragment) @callee))) @call
((call_expression function: (subscript_expression object: (_) @receiver "[" @callee index: (_) @_index)) @call
  (#not-match? @_index "^[\"'0-9]"))
(decorator (identifier) @callee) @call
(decorator (_ object: (_) @receiver property: (_) @callee)) @call
; <Component/>, but not <div/>
(jsx_opening_element name: (identifier) @callee (#match? @callee "^[A-Z]")) @call
(jsx_self_closing_element name: (identifier) @callee (#match? @callee "^[A-Z]")) @call
(jsx_opening_element name: (_ object: (_) @receiver property: (_) @callee)) @call
(jsx_self_closing_element name: (_ object: (_) @receiver property: (_) @callee)) @call

(class_heritage (_) @base)
