; M.open = f, local ops = {open = f}
(assignment_statement (variable_list . name: (dot_index_expression table: (identifier) @stored.variable field: (identifier) @stored.field) .)
  (expression_list . value: [(identifier) (dot_index_expression)] @stored.value .)) @stored
(assignment_statement (variable_list . name: (identifier) @stored.variable .)
  (expression_list . value: (table_constructor (field name: (identifier) @stored.field
    value: [(identifier) (dot_index_expression)] @stored.value)) .)) @stored
