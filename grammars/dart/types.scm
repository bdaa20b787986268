(formal_parameter (type_identifier) @typed.type . (type_arguments)? . (nullable_type)? . name: (identifier) @typed.name) @typed
(formal_parameter (identifier) @typed.name) @typed
(initialized_variable_definition (type_identifier) @typed.type name: (_) @typed.name) @typed
(initialized_variable_definition name: (_) @typed.name) @typed
(declaration (type_identifier) @typed.type . (type_arguments)? . (nullable_type)? . (_ (_ . (identifier) @typed.name))) @typed
(function_signature . (type_identifier) @typed.return) @typed
