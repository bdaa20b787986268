; Functions in fields, variables and tables, which a call through an interface of the libraries reaches.
(variable_declarator name: (identifier) @stored.into @stored.declared
  value: [(method_reference) (lambda_expression)] @stored.tree) @stored
(field_declaration declarator: (variable_declarator name: (identifier) @stored.into @stored.declared
  value: [(array_initializer) (method_invocation)] @stored.tree)) @stored
(assignment_expression left: (_) @stored.into right: [(method_reference) (lambda_expression)] @stored.tree) @stored
; A parameter that is kept.
(constructor_declaration body: (_ (expression_statement (assignment_expression
  left: (_) @stored.into right: (identifier) @stored.tree)))) @stored
(method_declaration body: (_ (expression_statement (assignment_expression
  left: (_) @stored.into right: (identifier) @stored.tree)))) @stored
; TABLE.put(k, f)
((method_invocation object: (_) @stored.into name: (identifier) @_put
  arguments: (argument_list [(method_reference) (lambda_expression)] @stored.tree .)) @stored
  (#any-of? @_put "put" "putIfAbsent" "add" "set" "push" "register" "addLast" "addFirst"))
; f(A::g)
(method_invocation object: (_)? @stored.object name: (identifier) @stored.callee
  arguments: (argument_list [(method_reference) (lambda_expression)] @stored.passed) @stored.arguments) @stored
(object_creation_expression type: [(type_identifier) (generic_type . (type_identifier))] @stored.callee
  arguments: (argument_list [(method_reference) (lambda_expression)] @stored.passed) @stored.arguments) @stored
