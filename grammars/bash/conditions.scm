(program [(if_statement) (case_statement) (list)] @condition)
