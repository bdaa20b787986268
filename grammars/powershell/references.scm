((command command_name: (command_name) @callee) @call (#not-match? @callee "^using$"))
(command command_name: (command_name_expr (path_command_name (path_command_name_token) @callee))) @call
; & $name, & "name", $object.$name(): the name is computed.
(command (command_invokation_operator) @callee command_name: (command_name_expr (string_literal))) @call
(command command_name: (command_name_expr (path_command_name (variable) @callee))) @call
(invokation_expression . (variable) @receiver (member_name (variable) @callee)) @call
(invokation_expression (type_literal (type_spec (type_name) @receiver)) (member_name (simple_name) @callee)) @call
(invokation_expression . (variable) @receiver (member_name (simple_name) @callee)) @call
(invokation_expression . [(invokation_expression) (member_access) (parenthesized_expression)] @receiver (member_name (simple_name) @callee)) @call
