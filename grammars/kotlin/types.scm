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
