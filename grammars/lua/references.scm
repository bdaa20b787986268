(function_call name: (identifier) @callee (#not-eq? @callee "require")) @call
(function_call name: (dot_index_expression table: (_) @receiver field: (identifier) @callee)) @call
(function_call name: (method_index_expression table: (_) @receiver method: (identifier) @callee)) @call
; pcall(f, x), xpcall(f, handler)
(function_call name: (identifier) @_pcall
  arguments: (_ . [(identifier) @callee (dot_index_expression table: (_) @receiver field: (identifier) @callee)])
  (#any-of? @_pcall "pcall" "xpcall") (#not-eq? @callee "require")) @call

; A = setmetatable({}, { __index = B }) and setmetatable(A, { __index = B })
(assignment_statement (variable_list . name: (identifier)) (expression_list . value: (function_call
  name: (identifier) @_setmetatable
  arguments: (arguments (table_constructor (field name: (identifier) @_index
    value: [(identifier) (dot_index_expression)] @base)))))
  (#eq? @_setmetatable "setmetatable") (#eq? @_index "__index"))
; t[name](x): the name is computed.
(function_call name: (bracket_index_expression table: (_) @receiver "[" @callee)) @call
; An element of a table of functions.
(function_call name: (bracket_index_expression table: [
  (identifier) @callee
  (dot_index_expression table: (_) @receiver field: (identifier) @callee)]) @element) @call
