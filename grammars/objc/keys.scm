; Designated initializers, labels of `switch`, members of an enum.
(initializer_list (initializer_pair . designator: [(field_designator) (subscript_designator [(number_literal) (identifier)])] @key . value: (_))) @keys
(switch_statement body: (compound_statement (case_statement value: [(number_literal) (char_literal) (identifier)] @key)) @keys)
(enumerator_list (enumerator name: (identifier) @key)) @keys
(dictionary_literal (dictionary_pair . [(string_literal) (identifier)] @key)) @keys
