(function_definition name: (_) @name) @definition.function

; The parents are named because `LC_ALL=C` in `LC_ALL=C sort` defines nothing.
[
  (program (variable_assignment name: (variable_name) @name) @definition.variable)
  (declaration_command (variable_assignment name: (variable_name) @name) @definition.variable)
  (variable_assignments (variable_assignment name: (variable_name) @name) @definition.variable)
  (if_statement (variable_assignment name: (variable_name) @name) @definition.variable)
  (elif_clause (variable_assignment name: (variable_name) @name) @definition.variable)
  (else_clause (variable_assignment name: (variable_name) @name) @definition.variable)
  (case_item (variable_assignment name: (variable_name) @name) @definition.variable)
  (list (variable_assignment name: (variable_name) @name) @definition.variable)
]

(comment) @comment
