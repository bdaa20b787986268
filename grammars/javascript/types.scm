; Parameters are bound, and nothing more is known of them.
(formal_parameters [
  (identifier) @typed.name
  (assignment_pattern left: (identifier) @typed.name)
  (rest_pattern (identifier) @typed.name)
  (object_pattern) @typed.pattern
  (array_pattern) @typed.pattern
  (assignment_pattern left: [(object_pattern) (array_pattern)] @typed.pattern)]) @typed
(arrow_function parameter: (identifier) @typed.name) @typed
(catch_clause parameter: (identifier) @typed.name) @typed
(catch_clause parameter: [(object_pattern) (array_pattern)] @typed.pattern) @typed

; Variables. Those that hold a function are definitions, what holds a required module is an import. What may be given
; another value later is followed by the propagation alone.
(variable_declarator name: (identifier) @typed.name !value) @typed
(variable_declarator name: (identifier) @typed.name value: (new_expression) @typed.value) @typed
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @typed.name
  value: [(identifier) (member_expression) (await_expression) (subscript_expression)] @typed.value)) @typed
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @typed.name
  value: (call_expression function: (_) @_function) @typed.value) (#not-eq? @_function "require")) @typed
(variable_declarator name: (identifier) @typed.name
  value: [(identifier) (member_expression) (await_expression) (subscript_expression) (ternary_expression)
    (binary_expression) (object) (array) (parenthesized_expression)]) @typed
(variable_declarator name: (identifier) @typed.name value: (call_expression function: (_) @_function)
  (#not-eq? @_function "require")) @typed
(variable_declarator name: (object_pattern) @typed.pattern value: (call_expression function: (_) @_function)
  (#not-eq? @_function "require")) @typed
(variable_declarator name: (object_pattern) @typed.pattern value: [(identifier) (member_expression) (await_expression)
  (subscript_expression) (ternary_expression) (binary_expression) (object) (this)]) @typed
(variable_declarator name: (array_pattern) @typed.pattern) @typed
(for_in_statement left: (identifier) @typed.name right: (_) @typed.each) @typed
(for_in_statement kind: _ left: [(object_pattern) (array_pattern)] @typed.pattern) @typed

; this.x = new A(), x = new A() in a class
(assignment_expression left: (_ object: (this) property: (_) @typed.member)
  right: [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)] @typed.value) @typed
(field_definition property: (_) @typed.member
  value: [(new_expression) (call_expression) (identifier) (member_expression)] @typed.value) @typed

; What a function returns
(function_declaration body: (_ (return_statement
  [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)] @typed.result))) @typed
(method_definition body: (_ (return_statement
  [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)] @typed.result))) @typed
(variable_declarator value: (arrow_function
  body: [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)] @typed.result)) @typed

; export default a, export {a as b}
(export_statement "default" @typed.name
  value: [(identifier) (new_expression) (call_expression) (member_expression)] @typed.value) @typed
(export_statement "default" @typed.name declaration: (_ name: (_) @typed.value)) @typed
(export_statement !source (export_clause (export_specifier name: (_) @typed.value alias: (_) @typed.name))) @typed

; module.exports = a
((assignment_expression left: (member_expression) @typed.name
  right: [(identifier) (new_expression) (call_expression) (member_expression)] @typed.value) @typed
  (#eq? @typed.name "module.exports"))
