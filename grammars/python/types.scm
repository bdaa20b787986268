(typed_parameter . (identifier) @typed.name type: (type) @typed.type) @typed
(typed_default_parameter name: (identifier) @typed.name type: (type) @typed.type) @typed
(parameters [(identifier) @typed.name (default_parameter name: (identifier) @typed.name)]) @typed
(lambda_parameters [(identifier) @typed.name (default_parameter name: (identifier) @typed.name)]) @typed

(assignment left: (identifier) @typed.name type: (type) @typed.type) @typed
(assignment left: (identifier) @typed.name !type right: [(call) (identifier) (attribute) (await) (subscript)] @typed.value) @typed
(assignment left: (attribute object: (identifier) @_self attribute: (identifier) @typed.member) type: (type) @typed.type
  (#eq? @_self "self")) @typed
(assignment left: (attribute object: (identifier) @_self attribute: (identifier) @typed.member) !type
  right: [(call) (identifier) (attribute) (await)] @typed.value (#eq? @_self "self")) @typed
(named_expression name: (identifier) @typed.name value: (_) @typed.value) @typed
(for_statement left: (identifier) @typed.name right: (_) @typed.each) @typed
(for_in_clause left: (identifier) @typed.name right: (_) @typed.each) @typed
(for_statement left: (pattern_list (identifier) @typed.name)) @typed
(assignment left: (pattern_list (identifier) @typed.name)) @typed
(as_pattern (_) @typed.value alias: (as_pattern_target (identifier) @typed.name)) @typed

(function_definition return_type: (type) @typed.return) @typed
(function_definition !return_type body: (block (return_statement [(call) (identifier) (attribute) (await)] @typed.result))) @typed
