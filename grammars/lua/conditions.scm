(chunk (_ condition: (_)) @condition)
(chunk (do_statement) @condition)
; M.f = M.f or function … end
(chunk (assignment_statement (expression_list value: (binary_expression operator: "or"))) @condition)
