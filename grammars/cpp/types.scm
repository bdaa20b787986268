; Parameters, locals, fields, loop variables: wildcards cost nothing when the query is compiled, named nodes do;
; `!parameters` is every declarator but a function's.
((_ type: (_) @typed.declared declarator: [
    (identifier) @typed.name
    (field_identifier) @typed.name
    (_ !parameters !value [(identifier) (field_identifier)] @typed.name)
    (_ !parameters !value (_ !parameters [(identifier) (field_identifier)] @typed.name))
    (_ declarator: [(identifier) @typed.name (_ !parameters . (identifier) @typed.name .)] value: (_) @typed.value)]
  . [value: (_) @typed.value right: (_) @typed.each]?) @typed)
; A pointer to a function hides the function of its name.
(_ type: (_) declarator: (_ declarator: (_ (_ declarator: (identifier) @typed.name)) parameters: (_))) @typed

((_ declarator: (_ declarator: (identifier) @typed.name value: (call_expression function: (_ name: (template_function
    name: (identifier) @_make arguments: (_ . (_ type: (_) @typed.type))))))) @typed
  (#any-of? @_make "make_unique" "make_shared"))
(structured_binding_declarator (identifier) @typed.name) @typed

((function_definition type: (_) @typed.return) @typed (#not-match? @typed.return "^(auto|void)\\b"))
(trailing_return_type (_) @typed.return) @typed

(alias_declaration name: (_) @typed.alias type: (_) @typed.type) @typed
(type_definition type: (_) @typed.type declarator: [(type_identifier) @typed.alias (_ (type_identifier) @typed.alias)]) @typed
