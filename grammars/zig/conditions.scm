; `if` and `switch` between types: what is declared in a branch is there if the compiler takes the branch.
(if_expression [(struct_declaration) (union_declaration) (enum_declaration) (opaque_declaration)
  (error_set_declaration) (if_expression) (switch_expression)]) @condition
(switch_expression (switch_case [(struct_declaration) (union_declaration) (enum_declaration) (opaque_declaration)
  (error_set_declaration) (if_expression) (switch_expression)])) @condition
