; `if` and `switch` between types: what is declared in a branch is there if the compiler takes the branch. In a function
; they may depend on its arguments.
(source_file [(variable_declaration [(if_expression) (switch_expression)])
  (using_namespace_declaration [(if_expression) (switch_expression)])] @condition)
(struct_declaration [(variable_declaration [(if_expression) (switch_expression)])
  (using_namespace_declaration [(if_expression) (switch_expression)])] @condition)
(union_declaration (variable_declaration [(if_expression) (switch_expression)]) @condition)
(enum_declaration (variable_declaration [(if_expression) (switch_expression)]) @condition)
(opaque_declaration (variable_declaration [(if_expression) (switch_expression)]) @condition)
