; Labels of `switch`, constants of an enum, keys of `Map.of`.
(switch_block (switch_block_statement_group (switch_label [(string_literal) (decimal_integer_literal) (character_literal) (identifier)] @key))) @keys
(switch_block (switch_rule (switch_label [(string_literal) (decimal_integer_literal) (character_literal) (identifier)] @key))) @keys
(enum_body (enum_constant name: (identifier) @key)) @keys
((method_invocation object: (identifier) @_map name: (identifier) @_entries arguments: (argument_list (method_invocation name: (identifier) @_entry arguments: (argument_list . (string_literal) @key)))) @keys
  (#eq? @_map "Map") (#eq? @_entries "ofEntries") (#eq? @_entry "entry"))
