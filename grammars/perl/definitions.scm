; The first package of a file holds what follows. One with a block is named in it.
(package_statement name: (package) @name (block) @body) @definition.namespace
(package_statement name: (package) @package .)

(subroutine_declaration_statement name: (bareword) @name body: (block) @body) @definition.function
(method_declaration_statement name: (bareword) @name body: (block) @body) @definition.method
(class_statement name: (package) @name (block)? @body) @definition.class

((use_statement module: (package) @_constant (list_expression . (autoquoted_bareword) @name)) @definition.constant
  (#eq? @_constant "constant"))
((use_statement module: (package) @_constant (anonymous_hash_expression (list_expression (autoquoted_bareword) @name @definition.constant)))
  (#eq? @_constant "constant"))
(variable_declaration "our" [(scalar (varname) @name) (array (varname) @name) (hash (varname) @name)]) @definition.variable

; Mojo, Moose, Moo: has name => …
((ambiguous_function_call_expression function: (_) @_has
  arguments: (list_expression . [(autoquoted_bareword) @name (string_literal content: (string_content) @name)])) @definition.function
  (#eq? @_has "has"))

(anonymous_subroutine_expression) @local
[(comment) (pod)] @comment
