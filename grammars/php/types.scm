; Where the first child is a wildcard, the root is named: a cursor looks for a wildcard root by its first child.
[(simple_parameter type: (_) @typed.type name: (variable_name (name) @typed.name))
 (property_promotion_parameter type: (_) @typed.type name: (variable_name (name) @typed.name))
 (variadic_parameter type: (_) @typed.type name: (variable_name (name) @typed.name))
 (catch_clause type: (_) @typed.type name: (variable_name (name) @typed.name))] @typed
(property_promotion_parameter type: (_) @typed.type name: (_ (name) @typed.member)) @typed
(property_declaration type: (_) @typed.type (property_element name: (_ (name) @typed.member))) @typed

(assignment_expression left: (variable_name (name) @typed.name) right: (_) @typed.value) @typed
; Among binary expressions, `instanceof` gives a type.
([(assignment_expression left: [(_ object: (_) @_of name: (name) @typed.member)
    (_ scope: (_) @_of name: (_ (name) @typed.member))] right: (_) @typed.value)
  (augmented_assignment_expression left: [(_ object: (_) @_of name: (name) @typed.member)
    (_ scope: (_) @_of name: (_ (name) @typed.member))] right: (_) @typed.value)
  (reference_assignment_expression left: [(_ object: (_) @_of name: (name) @typed.member)
    (_ scope: (_) @_of name: (_ (name) @typed.member))] right: (_) @typed.value)
  (binary_expression left: [(_ object: (_) @_of name: (name) @typed.member)
    (_ scope: (_) @_of name: (_ (name) @typed.member))] right: (_) @typed.value)]
  @typed (#any-of? @_of "$this" "self" "static"))
(foreach_statement . (_) @typed.each . [(variable_name (name) @typed.name) (pair (_) . (_ (name) @typed.name))]) @typed

[(method_declaration return_type: (_) @typed.return) (function_definition return_type: (_) @typed.return)
 (anonymous_function return_type: (_) @typed.return) (arrow_function return_type: (_) @typed.return)] @typed
(return_statement (_) @typed.result) @typed
