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

; Calls in the arguments of a macro, where the grammar has tokens only.
(token_tree ["{" "(" "," ";" "=" "=>" "&" "!" "return" "&&" "||" "==" "!=" "<" ">" "+" "-" "*" "/" ".." "if" "while"
  "match" "in" "else"] . (identifier) @callee . (token_tree . "(")) @call
(token_tree [(identifier) (self) (crate) (super) (token_tree)] @receiver . ["." "::"] . (identifier) @callee
  . (token_tree . "(")) @call
(token_tree (identifier) @callee . "!" . (token_tree)) @call
