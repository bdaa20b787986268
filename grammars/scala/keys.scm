; Keys of a map, labels of `match`.
(call_expression function: (identifier) @_map arguments: (arguments (infix_expression left: (string) @key operator: (operator_identifier) @_to))
  (#eq? @_map "Map") (#eq? @_to "->")) @keys
(case_block (case_clause pattern: [(string) (integer_literal) (stable_identifier)] @key)) @keys
