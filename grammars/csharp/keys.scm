; Labels of `switch`, members of an enum, keys of an initializer.
(switch_body (switch_section (constant_pattern) @key)) @keys
(switch_expression (switch_expression_arm . (constant_pattern) @key)) @keys
(enum_member_declaration_list (enum_member_declaration name: (identifier) @key)) @keys
((object_creation_expression type: (generic_name (identifier) @_type) initializer: (initializer_expression (initializer_expression . [(string_literal) (integer_literal) (member_access_expression)] @key . (_)))) @keys
  (#match? @_type "Dictionary$"))
(initializer_expression (_ left: [(identifier) (element_binding_expression (argument [(string_literal) (integer_literal)]))] @key)) @keys
