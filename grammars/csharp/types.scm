(parameter type: (_) @typed.type name: (identifier) @typed.name) @typed
(parameter !type name: (identifier) @typed.name) @typed
(parameter_list type: (_) @typed.type name: (identifier) @typed.name) @typed
(implicit_parameter) @typed @typed.name

; Fields and locals; `var` has the type of its value, also in a `using`.
(variable_declaration type: [(identifier) (generic_name) (qualified_name) (nullable_type) (array_type) (predefined_type)] @typed.type
  (variable_declarator name: (identifier) @typed.name)) @typed
(variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @typed.name . (_) @typed.value)) @typed
(variable_declaration type: (implicit_type) (variable_declarator (tuple_pattern name: (_) @typed.name))) @typed
((foreach_statement type: (_) @typed.type left: (identifier) @typed.name) @typed (#not-eq? @typed.type "var"))
(foreach_statement type: (implicit_type) left: (identifier) @typed.name right: (_) @typed.each) @typed
(declaration_pattern type: (_) @typed.type name: (identifier) @typed.name) @typed
(recursive_pattern type: (_) @typed.type name: (identifier) @typed.name) @typed
(catch_declaration type: (_) @typed.type name: (identifier) @typed.name) @typed
((declaration_expression type: (_) @typed.type name: (identifier) @typed.name) @typed (#not-eq? @typed.type "var"))
(declaration_expression type: (implicit_type) name: (identifier) @typed.name) @typed

(property_declaration type: (_) @typed.type name: (identifier) @typed.name) @typed
(event_declaration type: (_) @typed.type name: (identifier) @typed.name) @typed

((method_declaration returns: [(identifier) (generic_name) (qualified_name) (nullable_type) (array_type) (predefined_type)] @typed.return) @typed
  (#not-eq? @typed.return "void"))
(local_function_statement type: (_) @typed.return) @typed

; A type parameter has the members of its constraint.
(type_parameter_constraints_clause . (identifier) @typed.alias . (type_parameter_constraint type: (_) @typed.type)) @typed
