; `(_ condition: (_))` is an `if` or `switch`: naming the node types would cost several times as much to match.
(program (_ condition: (_)) @condition)
(program (try_statement) @condition)
(program (expression_statement (binary_expression) @condition))
(namespace_definition body: (_ [(if_statement) (try_statement) (switch_statement)
  (expression_statement (binary_expression))] @condition))
