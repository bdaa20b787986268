; M.open = f, handlers[k] = f, self.cb = function(x) f(x) end
(assignment_statement (variable_list . name: [(dot_index_expression) (bracket_index_expression)] @stored.into .)
  (expression_list . value: [(identifier) (dot_index_expression) (function_definition) (table_constructor)] @stored.tree .)) @stored
; local ops = {open = f}
(assignment_statement (variable_list . name: (identifier) @stored.into .)
  (expression_list . value: [(table_constructor) (function_definition)] @stored.tree .)) @stored
; f(function(x) g(x) end)
(function_call name: [(identifier) @stored.callee
    (dot_index_expression table: (_) @stored.object field: (_) @stored.callee)
    (method_index_expression table: (_) @stored.object method: (_) @stored.callee)]
  arguments: (arguments (function_definition) @stored.passed) @stored.arguments) @stored
