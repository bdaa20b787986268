; Patterns of `case`, of which all is one word.
(case_statement (case_item . value: [(word) (string) (raw_string) (extglob_pattern)] @key . [")" "|"])) @keys
(case_statement (case_item "|" . value: [(word) (string) (raw_string) (extglob_pattern)] @key . [")" "|"])) @keys
