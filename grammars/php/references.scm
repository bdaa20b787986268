(function_call_expression function: (name) @callee) @call
(function_call_expression function: (_ prefix: (_) @receiver (name) @callee)) @call
(member_call_expression object: (_) @receiver name: (name) @callee) @call
(nullsafe_member_call_expression object: (_) @receiver name: (name) @callee) @call
(scoped_call_expression scope: (_) @receiver name: (name) @callee) @call
(object_creation_expression (name) @callee) @call
(object_creation_expression (_ prefix: (_) @receiver (name) @callee)) @call
(attribute (name) @callee) @call
(attribute (_ prefix: (_) @receiver (name) @callee)) @call

(class_declaration (base_clause (_) @base))
(class_declaration (class_interface_clause (_) @base))
(interface_declaration (base_clause (_) @base))
(enum_declaration (class_interface_clause (_) @base))
(declaration_list (use_declaration [(name) (qualified_name)] @base))
(enum_declaration_list (use_declaration [(name) (qualified_name)] @base))
