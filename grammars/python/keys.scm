; Keys of a dictionary, attributes of a class, labels of `match`.
(dictionary (pair key: [(string) (integer) (attribute) (identifier)] @key)) @keys
(class_definition body: (block (expression_statement (assignment left: (identifier) @key.attribute right: (_)))) @keys)
(match_statement body: (block (case_clause . (case_pattern . [(string) (integer) (dotted_name)] @key .) . consequence: (_))) @keys)
