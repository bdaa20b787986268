; $this->h = [$this, 'm'], $this->h = $this->m(...), $h = fn($x) => f($x), $this->map = ['k' => [$this, 'm']]
(assignment_expression left: [(variable_name) (member_access_expression) (subscript_expression)] @stored.into
  right: [(array_creation_expression) (arrow_function) (anonymous_function)] @stored.tree) @stored
(assignment_expression left: [(variable_name) (member_access_expression) (subscript_expression)] @stored.into
  right: (_ arguments: (arguments . (variadic_placeholder) .)) @stored.tree) @stored
; A parameter that is kept.
(assignment_expression left: (member_access_expression) @stored.into right: (variable_name) @stored.tree) @stored
(property_promotion_parameter name: (variable_name) @stored.promoted) @stored
; f([$this, 'm']), f(onDone: g(...))
(_ function: (name) @stored.callee arguments: (arguments (argument
  [(array_creation_expression) (arrow_function) (anonymous_function) (_ arguments: (arguments . (variadic_placeholder) .))] @stored.passed .)) @stored.arguments) @stored
([(member_call_expression object: (_) @stored.object name: (name) @stored.callee
  arguments: (arguments (argument
    [(array_creation_expression) (arrow_function) (anonymous_function) (_ arguments: (arguments . (variadic_placeholder) .))] @stored.passed .)) @stored.arguments)
 (scoped_call_expression scope: (_) @stored.object name: (name) @stored.callee
  arguments: (arguments (argument
    [(array_creation_expression) (arrow_function) (anonymous_function) (_ arguments: (arguments . (variadic_placeholder) .))] @stored.passed .)) @stored.arguments)
 (object_creation_expression (name) @stored.callee (arguments (argument
    [(array_creation_expression) (arrow_function) (anonymous_function) (_ arguments: (arguments . (variadic_placeholder) .))] @stored.passed .)) @stored.arguments)] @stored)
