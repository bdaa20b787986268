; Fields of an initializer, which the compiler rejects twice, labels of `switch`.
(initializer_list (assignment_expression left: (field_expression) @key)) @keys
