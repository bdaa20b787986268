(apply function: [(variable) (constructor)] @callee) @call
(qualified module: (_ (module_id) @receiver .) id: (variable) @callee) @call
(infix_id (variable) @callee) @call
(exp (variable) @callee) @call
; f . g $ x
((_ left_operand: (variable) @callee @call operator: (operator) @_op)
  (#any-of? @_op "$" "." "<$>" "=<<" "$!" "<$!>" "<=<" ">=>"))
