; Labels of `match`, members of an enum.
(match_block (match_arm . pattern: (match_pattern . [(integer_literal) (string_literal) (char_literal) (scoped_identifier)] @key .))) @keys
(enum_variant_list (enum_variant . name: (identifier) @key)) @keys
