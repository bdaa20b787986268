; Keys of a dictionary, attributes of a class, labels of `match`, flags of a command line.
(dictionary (pair key: [(string) (integer) (attribute) (identifier)] @key)) @keys
(class_definition body: (block (expression_statement (assignment left: (identifier) @key.attribute right: (_)))) @keys)
(match_statement body: (block (case_clause . (case_pattern . [(string) (integer) (dotted_name)] @key .) . consequence: (_))) @keys)
((block (expression_statement (call function: (attribute object: (identifier) @key.of attribute: (identifier) @_add) arguments: (argument_list (string) @key)))) @keys
  (#eq? @_add "add_argument") (#match? @key "^.-"))
((module (expression_statement (call function: (attribute object: (identifier) @key.of attribute: (identifier) @_add) arguments: (argument_list (string) @key)))) @keys
  (#eq? @_add "add_argument") (#match? @key "^.-"))
