; Keys of a dictionary, which ends the program if it has one twice, labels of `switch`, cases of an enum, which
; the values that they hold tell apart.
(dictionary_literal key: [(line_string_literal) (integer_literal) (prefix_expression)] @key) @keys
(switch_statement (switch_entry (switch_pattern) @key)) @keys
(enum_class_body (enum_entry !data_contents name: (simple_identifier) @key)) @keys
