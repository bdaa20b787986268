(class_parameter (identifier) @typed.name . (_) @typed.type) @typed
(parameter (identifier) @typed.name . (_) @typed.type) @typed
; Properties and locals, and the variables of loops and lambdas with a type.
(variable_declaration (identifier) @typed.name . (_) @typed.type) @typed
((property_declaration (variable_declaration (identifier) @typed.name .) . (_) @typed.value) @typed
  (#not-match? @typed.value "^(by|get|set)\\b"))
; `by lazy { … }` has the type of the block; `val a get() = …` that of the expression.
(property_declaration (variable_declaration (identifier) @typed.name .)
  (property_delegate (_ (annotated_lambda (_ (_) @typed.value .))))) @typed
(property_declaration (variable_declaration (identifier) @typed.name .) (getter (function_body "=" . (_) @typed.value))) @typed
(for_statement . (variable_declaration (identifier) @typed.name .) . (_) @typed.each) @typed
(when_subject (variable_declaration (identifier) @typed.name .) . (_) @typed.value) @typed
(lambda_parameters (variable_declaration (identifier) @typed.name .)) @typed
(multi_variable_declaration (variable_declaration (identifier) @typed.name .)) @typed
(catch_block . (identifier) @typed.name . (_) @typed.type) @typed

(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @typed.return) @typed
(function_declaration (function_value_parameters) . (function_body "=" . (_) @typed.result)) @typed

(type_alias type: (_) @typed.alias (_) @typed.type .) @typed
; A type parameter has the members of its bound.
(type_parameter (identifier) @typed.alias . (_) @typed.type) @typed

; Smart casts: what a name is where a test of its type has held.
(if_expression condition: (_ left: (identifier) @narrowed.name "is" right: (_) @narrowed.type) . (_) @narrowed.body) @narrowed
(if_expression
  condition: (binary_expression
    left: (_ left: (identifier) @narrowed.name "is" right: (_) @narrowed.type)
    operator: "&&"
    right: (_) @narrowed.body)
  . (_) @narrowed.body) @narrowed
(binary_expression left: (_ left: (identifier) @narrowed.name "is" right: (_) @narrowed.type) "&&"
  right: (_) @narrowed.body) @narrowed
(binary_expression left: (_ left: (identifier) @narrowed.name "!is" right: (_) @narrowed.type) "||"
  right: (_) @narrowed.body) @narrowed
; After `if (x !is T) return`. The grammar takes `continue` for a name.
(block (if_expression
    condition: [
      (_ left: (identifier) @narrowed.name "!is" right: (_) @narrowed.type)
      (binary_expression left: (_ left: (identifier) @narrowed.name "!is" right: (_) @narrowed.type) "||")]
    . ")" . [(return_expression) (throw_expression) (identifier) (block [(return_expression) (throw_expression)] .)] .)
  . (_) @narrowed.body "}" @narrowed.body) @narrowed
(when_entry . condition: (_ left: (identifier) @narrowed.name "is" right: (_) @narrowed.type)
  . (_) @narrowed.body .) @narrowed
(when_expression
  (when_subject [(identifier) @narrowed.name (variable_declaration (identifier) @narrowed.name)])
  (when_entry . condition: (type_test "is" (_) @narrowed.type) . (_) @narrowed.body .)) @narrowed
(for_statement
  . (multi_variable_declaration . (_) . (variable_declaration (identifier) @typed.name .) .) . (_) @typed.each) @typed
