(program [(if_statement) (try_statement) (switch_statement) (expression_statement (binary_expression))] @condition)
(namespace_definition body: (_ [(if_statement) (try_statement) (switch_statement)
  (expression_statement (binary_expression))] @condition))
(attribute) @condition
