; `M.f` and `M:f` are members of M.
(function_declaration name: (identifier) @name) @definition.function
(function_declaration name: (dot_index_expression table: (_) @parent field: (identifier) @name)) @definition.function
(function_declaration name: (method_index_expression table: (_) @parent method: (identifier) @name)) @definition.function

; `f = function … end`, with or without `local`, and the same for members and for the fields of a table.
(variable_declaration (assignment_statement (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition)))) @definition.function
(assignment_statement (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition))) @definition.function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name))
  (expression_list . value: (function_definition))) @definition.function
(assignment_statement (variable_list . name: (bracket_index_expression table: (_) @parent
    field: (string content: (string_content) @name)))
  (expression_list . value: (function_definition))) @definition.function
(field name: [(identifier) @name (string content: (string_content) @name (#match? @name "^[\\w.:/ -]+$"))]
  value: (function_definition)) @definition.function

; Module level only. What a `require` gives is an import.
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.variable
  (#not-match? @definition.variable
    "^local\\s+\\w+\\s*(<\\w+>\\s*)?=\\s*require\\s*\\(?\\s*([\"'][^\"']*[\"']|\\[\\[[^\\]]*\\]\\])\\s*\\)?(\\s*\\.\\s*\\w+)*\\s*;?$"))
(chunk (variable_declaration (variable_list name: (identifier) @name)) @definition.variable)
(chunk (assignment_statement (variable_list
  name: (dot_index_expression table: (_) @parent field: (identifier) @name))) @definition.field)

(function_definition) @local

(comment) @comment
