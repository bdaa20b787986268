; Patterns of `case`.
(case_statement (case_item value: [(word) (string) (raw_string) (extglob_pattern)] @key)) @keys
