((command command_name: (command_name) @callee) @call (#not-match? @callee "^using$"))
(command command_name: (command_name_expr (path_command_name (path_command_name_token) @callee))) @call
(invokation_expression (type_literal (type_spec (type_name) @receiver)) (member_name (simple_name) @callee)) @call
(invokation_expression . (variable) @receiver (member_name (simple_name) @callee)) @call
(invokation_expression . [(invokation_expression) (member_access) (parenthesized_expression)] @receiver (member_name (simple_name) @callee)) @call
