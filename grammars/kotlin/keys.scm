; Labels of `when`, entries of an enum, keys of `mapOf`.
(when_expression (when_subject) (when_entry condition: [(string_literal) (number_literal) (navigation_expression)] @key)) @keys
(enum_class_body (enum_entry . (identifier) @key)) @keys
((call_expression (identifier) @_map (value_arguments (value_argument (infix_expression . (string_literal) @key . (identifier) @_to))) @keys)
  (#match? @_map "^(?:mutable|hash|linked|sorted)?[mM]ap(?:Of)$|MapOf$") (#eq? @_to "to"))
