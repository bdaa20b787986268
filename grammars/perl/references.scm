; `f(1)`, `f 1` and `&f(1)`.
(function_call_expression function: (function . (varname) @callee)) @call
((function_call_expression function: (function) @callee) @call (#not-match? @callee "^&"))
(ambiguous_function_call_expression function: (function) @callee) @call
(method_call_expression invocant: (_) @receiver method: (method) @callee) @call

((use_statement module: (package) @_parent [(quoted_word_list content: (string_content) @base) (string_literal content: (string_content) @base)])
  (#match? @_parent "^(?:parent|base)$"))
