(program (_ condition: (_)) @condition)
(program [(case_statement) (list)] @condition)
