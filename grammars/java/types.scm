; Primitives have no members, but tell overloads apart.
(formal_parameter type: [(type_identifier) (generic_type) (scoped_type_identifier) (array_type) (integral_type) (floating_point_type) (boolean_type)] @typed.type
  name: (identifier) @typed.name) @typed
(spread_parameter (variable_declarator name: (_) @typed.name)) @typed
(catch_formal_parameter (catch_type . (_) @typed.type .) name: (_) @typed.name) @typed
(inferred_parameters (identifier) @typed.name) @typed
(lambda_expression parameters: (identifier) @typed.name) @typed
; What a method gives to a lambda that is passed to it.
(method_invocation object: (_)? @typed.of name: (identifier) @typed.called arguments: (argument_list (lambda_expression
  parameters: [(identifier) @typed.name (inferred_parameters (identifier) @typed.name)] @typed.parameters) @typed.lambda)
  @typed.arguments) @typed

(field_declaration type: [(type_identifier) (generic_type) (scoped_type_identifier) (array_type) (integral_type) (floating_point_type) (boolean_type)] @typed.type
  declarator: (_ name: (identifier) @typed.name)) @typed
(constant_declaration type: [(type_identifier) (generic_type) (scoped_type_identifier) (array_type) (integral_type) (floating_point_type) (boolean_type)] @typed.type
  declarator: (_ name: (identifier) @typed.name)) @typed

((local_variable_declaration type: [(type_identifier) (generic_type) (scoped_type_identifier) (array_type) (integral_type) (floating_point_type) (boolean_type)] @typed.type
  declarator: (_ name: (identifier) @typed.name)) @typed (#not-eq? @typed.type "var"))
; What a variable is given may say more than its type: `List<T> all = new Stack<>()`.
((local_variable_declaration type: (type_identifier) @_declared
  declarator: (_ name: (identifier) @typed.name value: (_) @typed.assigned)) @typed (#not-eq? @_declared "var"))
(assignment_expression left: (identifier) @typed.name right: (_) @typed.assigned) @typed
((local_variable_declaration type: (type_identifier) @_var
  declarator: (_ name: (identifier) @typed.name value: (_) @typed.value)) @typed (#eq? @_var "var"))
((resource type: (_) @typed.type name: (identifier) @typed.name) @typed (#not-eq? @typed.type "var"))
((resource type: (_) @_var name: (identifier) @typed.name value: (_) @typed.value) @typed (#eq? @_var "var"))
((enhanced_for_statement type: [(type_identifier) (generic_type) (scoped_type_identifier) (array_type) (integral_type) (floating_point_type) (boolean_type)] @typed.type
  name: (identifier) @typed.name) @typed (#not-eq? @typed.type "var"))
((enhanced_for_statement type: (type_identifier) @_var name: (identifier) @typed.name value: (_) @typed.each) @typed
  (#eq? @_var "var"))

(instanceof_expression right: (_) @typed.type name: (identifier) @typed.name) @typed
(type_pattern (_) @typed.type . (identifier) @typed.name) @typed
((record_pattern_component (_) @typed.type . (identifier) @typed.name) @typed (#not-eq? @typed.type "var"))

(enum_declaration name: (identifier) @typed.type body: (enum_body (enum_constant name: (identifier) @typed.name))) @typed

(method_declaration type: [(type_identifier) (generic_type) (scoped_type_identifier) (array_type) (integral_type) (floating_point_type) (boolean_type)] @typed.return) @typed

; A type parameter has the members of its bound.
(type_parameter (type_identifier) @typed.alias (type_bound . (_) @typed.type)) @typed

; What a test says that names no new variable: `if (x instanceof T)`, `x.getClass() == T.class`, `T.class.isInstance(x)`.
(if_statement condition: (_ (instanceof_expression left: (identifier) @narrowed.name right: (_) @narrowed.type !name))
  consequence: (_) @narrowed.body) @narrowed
(if_statement condition: (_ (binary_expression
    left: (instanceof_expression left: (identifier) @narrowed.name right: (_) @narrowed.type !name)
    operator: "&&"
    right: (_) @narrowed.body))
  consequence: (_) @narrowed.body) @narrowed
((if_statement condition: (_ (binary_expression
    left: (method_invocation object: (identifier) @narrowed.name name: (identifier) @_get)
    operator: "=="
    right: (class_literal (_) @narrowed.type)))
  consequence: (_) @narrowed.body) @narrowed (#eq? @_get "getClass"))
((if_statement condition: (_ (method_invocation
    object: (class_literal (_) @narrowed.type) name: (identifier) @_is arguments: (_ . (identifier) @narrowed.name .)))
  consequence: (_) @narrowed.body) @narrowed (#eq? @_is "isInstance"))
