; Parameters. Those of whose type nothing is said are bound all the same.
(required_parameter pattern: (identifier) @typed.name type: (_) @typed.type) @typed
(optional_parameter pattern: (identifier) @typed.name type: (_) @typed.type) @typed
(required_parameter pattern: [
  (identifier) @typed.name
  (rest_pattern (identifier) @typed.name)
  (object_pattern) @typed.pattern
  (array_pattern) @typed.pattern]) @typed
(optional_parameter pattern: (identifier) @typed.name) @typed
(optional_parameter pattern: [(object_pattern) (array_pattern)] @typed.pattern) @typed
; x => …, catch (x)
(_ parameter: (identifier) @typed.name) @typed
(catch_clause parameter: [(object_pattern) (array_pattern)] @typed.pattern) @typed

; Variables. Those that hold a function are definitions, what holds a required module is an import. What may be given
; another value later is followed by the propagation alone.
(variable_declarator name: (identifier) @typed.name type: (_) @typed.type) @typed
(variable_declarator name: (identifier) @typed.name !type !value) @typed
(variable_declarator name: (identifier) @typed.name !type value: (new_expression) @typed.value) @typed
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @typed.name !type
  value: [(identifier) (member_expression) (await_expression) (subscript_expression)
    (non_null_expression)] @typed.value)) @typed
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @typed.name !type
  value: (call_expression function: (_) @_function) @typed.value) (#not-eq? @_function "require")) @typed
(variable_declarator name: (identifier) @typed.name !type value: (as_expression (_) . (_) @typed.type)) @typed
(variable_declarator name: (identifier) @typed.name !type
  value: [(identifier) (member_expression) (await_expression) (subscript_expression) (ternary_expression)
    (binary_expression) (object) (array) (parenthesized_expression)]) @typed
(variable_declarator name: (identifier) @typed.name !type value: (call_expression function: (_) @_function)
  (#not-eq? @_function "require")) @typed
(variable_declarator name: (object_pattern) @typed.pattern value: (call_expression function: (_) @_function)
  (#not-eq? @_function "require")) @typed
(variable_declarator name: (object_pattern) @typed.pattern value: [(identifier) (member_expression) (await_expression)
  (subscript_expression) (ternary_expression) (binary_expression) (object) (this) (as_expression)
  (non_null_expression)]) @typed
(variable_declarator name: (array_pattern) @typed.pattern) @typed
(for_in_statement left: (identifier) @typed.name right: (_) @typed.each) @typed
(for_in_statement kind: _ left: [(object_pattern) (array_pattern)] @typed.pattern) @typed

; Fields, parameters that are fields, and this.x = new A()
(class_body (_ name: (_) @typed.member type: (_) @typed.type)) @typed
(class_body (_ name: (_) @typed.member !type
  value: [(new_expression) (call_expression) (identifier) (member_expression)] @typed.value)) @typed
; What tells the types of a union apart.
(public_field_definition "readonly" name: (_) @typed.member !type value: [(string) (true) (false)] @typed.type) @typed
(public_field_definition name: (_) @typed.member !type value: (as_expression . [(string) (true) (false)] @typed.type . "const")) @typed
(required_parameter [(accessibility_modifier) "readonly"]
  pattern: (identifier) @typed.member type: (_) @typed.type) @typed
(interface_body (_ name: (_) @typed.member type: (_) @typed.type)) @typed
(assignment_expression left: (_ object: (this) property: (_) @typed.member)
  right: (_) @typed.value (#match? @typed.value "^(new |await )?[\\w$.]+([(<]|$)")) @typed

; What a function returns
(function_declaration return_type: (type_annotation) @typed.return) @typed
(function_signature return_type: (type_annotation) @typed.return) @typed
(class_body (_ name: (_) return_type: (type_annotation) @typed.return)) @typed
(interface_body (_ name: (_) return_type: (type_annotation) @typed.return)) @typed
(variable_declarator value: (_ return_type: (type_annotation) @typed.return)) @typed
(function_declaration !return_type body: (_ (return_statement
  [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)] @typed.result))) @typed
(class_body (_ name: (_) !return_type body: (_ (return_statement
  [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)] @typed.result)))) @typed
(variable_declarator value: (_ !return_type
  body: [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)] @typed.result)) @typed

(type_alias_declaration name: (_) @typed.alias
  value: [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @typed.type) @typed

; export default a, export {a as b}
(export_statement "default" @typed.name
  value: [(identifier) (new_expression) (call_expression) (member_expression)] @typed.value) @typed
(export_statement "default" @typed.name declaration: (_ name: (_) @typed.value)) @typed
(export_statement !source (export_clause (export_specifier name: (_) @typed.value alias: (_) @typed.name))) @typed

; module.exports = a
((assignment_expression left: (member_expression) @typed.name
  right: [(identifier) (new_expression) (call_expression) (member_expression)] @typed.value) @typed
  (#eq? @typed.name "module.exports"))
