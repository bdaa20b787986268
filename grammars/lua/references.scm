(function_call name: (identifier) @callee (#not-eq? @callee "require")) @call
(function_call name: (dot_index_expression table: (_) @receiver field: (identifier) @callee)) @call
(function_call name: (method_index_expression table: (_) @receiver method: (identifier) @callee)) @call

; local A = setmetatable({}, { __index = B })
(chunk (variable_declaration (assignment_statement (expression_list value: (function_call
  name: (identifier) @_setmetatable
  arguments: (arguments (table_constructor (field name: (identifier) @_index
    value: [(identifier) (dot_index_expression)] @base))))))
  (#eq? @_setmetatable "setmetatable") (#eq? @_index "__index")))
