; Functions in properties, variables and tables.
(property_declaration (variable_declaration . (identifier) @stored.into @stored.declared)
  [(callable_reference) (lambda_literal) (anonymous_function) (navigation_expression "::")] @stored.tree) @stored
((property_declaration (variable_declaration . (identifier) @stored.into @stored.declared)
  (call_expression . (identifier) @_maker) @stored.tree) @stored
  (#any-of? @_maker "mapOf" "listOf" "setOf" "mutableMapOf" "mutableListOf" "arrayOf" "hashMapOf" "linkedMapOf"))
(assignment left: (_) @stored.into
  right: [(callable_reference) (lambda_literal) (anonymous_function) (identifier) (navigation_expression "::")] @stored.tree) @stored
; table.put(k, ::f)
((call_expression . (navigation_expression . (_) @stored.into (identifier) @_put .)
  (value_arguments (value_argument [(callable_reference) (lambda_literal) (navigation_expression "::")] @stored.tree) .)) @stored
  (#any-of? @_put "put" "putIfAbsent" "add" "set" "push" "register" "addLast" "addFirst"))
; f(::g), f(onDone = ::g), f { g(it) }
(call_expression . [(identifier) @stored.callee (navigation_expression . (_) @stored.object (identifier) @stored.callee .)]
  (value_arguments (value_argument
    [(callable_reference) (lambda_literal) (navigation_expression "::")] @stored.passed .)) @stored.arguments) @stored
(call_expression . [(identifier) @stored.callee (navigation_expression . (_) @stored.object (identifier) @stored.callee .)]
  (annotated_lambda (lambda_literal) @stored.passed) @stored.arguments) @stored
(call_expression . (call_expression . [(identifier) @stored.callee (navigation_expression . (_) @stored.object (identifier) @stored.callee .)])
  (annotated_lambda (lambda_literal) @stored.passed) @stored.arguments) @stored
