(function_definition name: (identifier) @name ":" @body) @definition.function
(class_definition name: (identifier) @name ":" @body) @definition.class
(type_alias_statement left: (type (identifier) @name)) @definition.type

; Assignments at module and class level. What is inside a function is dropped by the extractor.
(expression_statement (assignment left: (identifier) @name)) @definition.variable
(expression_statement (assignment left: (pattern_list (identifier) @name))) @definition.variable

(lambda) @local

; The first string of a body documents what is around it; of adjacent strings the first. Bytes and f-strings do not.
(function_definition body: (block . (expression_statement [
  (string (string_start) @_start) @docstring
  (concatenated_string . (string (string_start) @_start) @docstring)]))
  (#not-match? @_start "^[rRuU]*[bBfFtT]"))
(class_definition body: (block . (expression_statement [
  (string (string_start) @_start) @docstring
  (concatenated_string . (string (string_start) @_start) @docstring)]))
  (#not-match? @_start "^[rRuU]*[bBfFtT]"))

(comment) @comment @text
(decorator) @attribute
