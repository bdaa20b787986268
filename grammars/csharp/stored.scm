; Functions in fields, properties and tables. Names alone are found in the text.
(variable_declarator name: (identifier) @stored.into @stored.declared
  [(lambda_expression) (anonymous_method_expression) (initializer_expression)] @stored.tree) @stored
(variable_declarator name: (identifier) @stored.into @stored.declared
  [(object_creation_expression (initializer_expression)) (implicit_object_creation_expression (initializer_expression))] @stored.tree) @stored
(property_declaration name: (identifier) @stored.into @stored.declared value: (lambda_expression) @stored.tree) @stored
(assignment_expression left: (_) @stored.into right: [(lambda_expression) (anonymous_method_expression)] @stored.tree) @stored
; Table.Add(k, F)
(invocation_expression function: (member_access_expression expression: _ @stored.into
    name: ((identifier) @_put (#any-of? @_put "Add" "TryAdd" "Push" "Enqueue")))
  arguments: (argument_list (argument [(identifier) (lambda_expression)] @stored.tree) .)) @stored
; F(x => G(x)), F(onDone: x => G(x))
(invocation_expression function: [(identifier) @stored.callee
    (member_access_expression expression: _ @stored.object name: (identifier) @stored.callee)]
  arguments: (argument_list (argument (lambda_expression) @stored.passed .)) @stored.arguments) @stored
(object_creation_expression type: (identifier) @stored.callee
  arguments: (argument_list (argument (lambda_expression) @stored.passed .)) @stored.arguments) @stored
