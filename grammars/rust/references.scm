(call_expression function: [
  (identifier) @callee
  (scoped_identifier path: (_) @receiver name: (identifier) @callee)
  (scoped_identifier !path name: (identifier) @callee)
  (field_expression value: (_) @receiver field: (field_identifier) @callee)
  (generic_function function: [
    (identifier) @callee
    (scoped_identifier path: (_) @receiver name: (identifier) @callee)
    (field_expression value: (_) @receiver field: (field_identifier) @callee)])
]) @call
(macro_invocation macro: [
  (identifier) @callee
  (scoped_identifier path: (_) @receiver name: (identifier) @callee)
]) @call

; The traits a type implements and a trait extends.
(impl_item trait: (_) @base)
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @base))

; Calls in the arguments of a macro, where the grammar has tokens only. An anchor passes over unnamed tokens, so that
; `a == (b)` looks like a call of a; what is common and wrong is excluded by name.
(token_tree _ @_before . (identifier) @callee . (token_tree . "(") @_arguments
  (#not-match? @_before "^(\\.|::|fn)$")
  (#not-match? @callee "^(derive|cfg|cfg_attr|allow|doc|repr|serde|any|all|not|Fn|FnMut|FnOnce|Result|[A-Z])$")
  (#not-match? @_arguments "^\\((crate|super|self|in )")) @call
(token_tree [(identifier) (self) (metavariable) (crate)] @receiver . ["." "::"] . (identifier) @callee
  . (token_tree . "(")) @call
(token_tree (identifier) @callee . "!" . (token_tree)) @call
; A function in a field, or an element of a table.
(call_expression function: [
  (parenthesized_expression (field_expression value: (_) @receiver field: (field_identifier) @callee))
  (index_expression . [(identifier) @callee (field_expression value: (_) @receiver field: (field_identifier) @callee)]) @element
  (parenthesized_expression (index_expression . [
    (identifier) @callee
    (field_expression value: (_) @receiver field: (field_identifier) @callee)])) @element]) @call
