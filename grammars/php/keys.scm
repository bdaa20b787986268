; Keys of an array, labels of `switch` and `match`, cases of an enum.
(array_creation_expression (array_element_initializer . [(string) (encapsed_string) (integer) (class_constant_access_expression)] @key . (_))) @keys
(switch_block (case_statement value: [(string) (encapsed_string) (integer) (class_constant_access_expression)] @key)) @keys
(match_block (match_conditional_expression conditional_expressions: (match_condition_list [(string) (encapsed_string) (integer) (class_constant_access_expression)] @key))) @keys
(enum_declaration_list (enum_case name: (name) @key)) @keys
