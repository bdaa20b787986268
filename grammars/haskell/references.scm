; A pattern looks like the call of a constructor.
(_ pattern: (_) @uncalled)
(patterns) @uncalled

(apply function: [(variable) (constructor)] @callee) @call
(qualified module: (_ (module_id) @receiver .) id: (variable) @callee) @call
(infix_id (variable) @callee) @call
(exp (variable) @callee) @call
; f = g
(bind match: (match expression: (variable) @callee @call))
; a <- action
(bind pattern: (_) expression: (variable) @callee @call)
; f . g $ x
((_ left_operand: (variable) @callee @call operator: (operator) @_op)
  (#any-of? @_op "$" "." "<$>" "=<<" "$!" "<$!>" "<=<" ">=>" ">>" "*>" "<*" ">>="))
((_ operator: (operator) @_op right_operand: (variable) @callee @call)
  (#any-of? @_op "." ">>=" "<=<" ">=>" ">>" "*>" "<*" "&"))
