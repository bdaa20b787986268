(parameters name: (identifier) @typed.name) @typed
(for_generic_clause (variable_list name: (identifier) @typed.name)) @typed
((for_generic_clause (variable_list . name: (_) . name: (identifier) @typed.name)
  (expression_list . (function_call name: (identifier) @_pairs arguments: (arguments . (_) @typed.each)))) @typed
  (#any-of? @_pairs "pairs" "ipairs"))
(for_numeric_clause name: (identifier) @typed.name) @typed

; Of several names the first has the first value.
(assignment_statement (variable_list . name: (identifier) @typed.name)
  (expression_list . value: [(function_call) (identifier) (dot_index_expression) (bracket_index_expression)] @typed.value)) @typed
(assignment_statement (variable_list name: (identifier) @typed.name)) @typed
(assignment_statement (variable_list . name: (_ table: (identifier) @_self field: (identifier) @typed.member))
  (expression_list . value: [(function_call) (identifier) (dot_index_expression)] @typed.value) (#eq? @_self "self")) @typed
; An object with a metatable is of that class.
(assignment_statement (variable_list . name: (identifier) @typed.name)
  (expression_list . value: (function_call name: (identifier) @_set
    arguments: (_ . (_) . [(identifier) (dot_index_expression)] @typed.value))) (#eq? @_set "setmetatable")) @typed

(return_statement (expression_list . [(function_call) (identifier)] @typed.result)) @typed
(return_statement (expression_list . (function_call name: (identifier) @_set
  arguments: (_ . (_) . [(identifier) (dot_index_expression)] @typed.result))) (#eq? @_set "setmetatable")) @typed
; What `require` gives.
(chunk (return_statement "return" @typed.name (expression_list . [(identifier) (function_call) (dot_index_expression)] @typed.value))) @typed
(chunk (return_statement "return" @typed.name (expression_list . (function_call name: (identifier) @_set
  arguments: (_ . [(identifier) (dot_index_expression)] @typed.value))) (#eq? @_set "setmetatable"))) @typed
