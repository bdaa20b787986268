; Parameters, those of classes too.
(_ name: (identifier) @typed.name type: (_) @typed.type) @typed
(binding name: (identifier) @typed.name) @typed
(lambda_expression parameters: (identifier) @typed.name) @typed

; Values, variables, and what a pattern binds.
(_ pattern: (identifier) @typed.name type: (_)? @typed.type value: (_)? @typed.value) @typed
[(tuple_pattern (identifier) @typed.name) (infix_pattern (identifier) @typed.name)
 (identifiers (identifier) @typed.name) (capture_pattern (identifier) @typed.name)] @typed
(enumerator . (identifier) @typed.name . (_) @typed.each) @typed

[(function_definition return_type: (_) @typed.return) (function_declaration return_type: (_) @typed.return)] @typed
(function_definition !return_type body: (_) @typed.result) @typed
(type_definition name: (_) @typed.alias type: (_) @typed.type) @typed
