; What tests say of names, for TypeScript as well: `x instanceof T`. A name is what it is
; in the branch, after `&&`, and after an `if` that leaves. The parts of a test are read from its node:
; patterns that contain them take a third of a second to compile.
(if_statement condition: (_ (binary_expression) @narrowed.test)
  consequence: (_) @narrowed.body) @narrowed
(binary_expression left: (binary_expression) @narrowed.test operator: "&&" right: (_) @narrowed.body) @narrowed
(ternary_expression condition: (binary_expression) @narrowed.test
  consequence: (_) @narrowed.body) @narrowed
(statement_block
  (if_statement condition: (_ [(binary_expression) (unary_expression)] @narrowed.test)
    consequence: [(return_statement) (throw_statement) (_ [(return_statement) (throw_statement)] .)])
  . (_) @narrowed.after "}" @narrowed.after) @narrowed
