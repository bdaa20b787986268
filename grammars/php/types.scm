(_ type: (_) @typed.type name: (variable_name (name) @typed.name)) @typed
(property_promotion_parameter type: (_) @typed.type name: (_ (name) @typed.member)) @typed
(property_declaration type: (_) @typed.type (property_element name: (_ (name) @typed.member))) @typed

(assignment_expression left: (variable_name (name) @typed.name) right: (_) @typed.value) @typed
((_ left: (_ object: (_) @_this name: (name) @typed.member) right: (_) @typed.value) @typed (#eq? @_this "$this"))
((_ left: (_ scope: (_) @_self name: (_ (name) @typed.member)) right: (_) @typed.value) @typed
  (#any-of? @_self "self" "static"))
(foreach_statement . (_) @typed.each . [(variable_name (name) @typed.name) (pair (_) . (_ (name) @typed.name))]) @typed

(_ return_type: (_) @typed.return) @typed
(return_statement (_) @typed.result) @typed
