; Keys of a composite literal, labels of `switch`.
(literal_value (keyed_element key: (literal_element [(interpreted_string_literal) (int_literal) (identifier) (selector_expression)] @key))) @keys
(expression_switch_statement value: (_) (expression_case value: (expression_list [(interpreted_string_literal) (int_literal) (rune_literal) (identifier) (selector_expression)] @key))) @keys
