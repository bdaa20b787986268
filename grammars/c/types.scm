; Only what can hide a function: parameters and locals that are pointers to functions, or of a named type, which may
; be one. Wildcards below a node cost nothing when the query is compiled.
(parameter_declaration declarator: (_ declarator: (_ (_ declarator: (identifier) @typed.name)) parameters: (_))) @typed
(parameter_declaration type: (type_identifier) declarator: (identifier) @typed.name) @typed
(declaration type: (type_identifier) declarator: (identifier) @typed.name) @typed
(declaration type: (type_identifier) declarator: (init_declarator declarator: (identifier) @typed.name)) @typed
(declaration declarator: (_ declarator: (_ (_ declarator: (identifier) @typed.name)) parameters: (_))) @typed
(declaration declarator: (_ declarator: (_ declarator: (_ (_ declarator: (identifier) @typed.name)) parameters: (_)))) @typed
