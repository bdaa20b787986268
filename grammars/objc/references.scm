(message_expression receiver: (_) @receiver . method: (identifier) @callee) @call @selector
(call_expression function: (identifier) @callee) @call
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @callee)) @call
; (*fp)(x); what looks like (f)(x) is mostly a cast.
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @callee))) @call
; A name as a whole statement is a macro.
(expression_statement . (identifier) @callee .) @call

(class_interface superclass: (identifier) @base)
; Protocols stand behind the superclass or the category; before it stand type parameters.
(class_interface [superclass: (_) ")"] . (parameterized_arguments (type_name (type_identifier) @base)))
(protocol_declaration (protocol_reference_list (identifier) @base))
