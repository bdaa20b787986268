(call_expression function: [(identifier) @callee (generic_function function: (identifier) @callee)]) @call
; With or without arguments: a method without parameters looks like a field.
(field_expression value: (_) @receiver field: (identifier) @callee) @call
(infix_expression left: (_) @receiver operator: (identifier) @callee) @call
; A name that nothing around has bound is a method without parameters, or one that is handed over.
((identifier) @callee @bare (#match? @callee "^[a-z]") (#not-match? @callee "^(?:super|this)$"))
[(import_declaration) (export_declaration) (annotation) (access_qualifier) (self_type)] @uncalled
(package_clause name: (_) @uncalled)
(interpolated_string_expression interpolator: (_) @uncalled)
(assignment_expression left: (identifier) @uncalled)

; `new` is the receiver of what it makes: C(x) without it may be a method of the object beside the class.
(instance_expression "new" @receiver [
  (type_identifier) @callee
  (generic_type type: (type_identifier) @callee)
  (stable_type_identifier (type_identifier) @callee)
]) @call
(extends_clause "extends" @receiver [(type_identifier) @callee (generic_type type: (type_identifier) @callee)] . arguments: (_)) @call

(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)
(given_definition return_type: [(type_identifier) (generic_type)] @base body: (with_template_body))
