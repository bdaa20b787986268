; Keys of a hash, labels of `case`.
(hash (pair key: [(string) (integer) (hash_key_symbol) (simple_symbol)] @key)) @keys
(case (when pattern: (pattern [(string) (integer) (simple_symbol) (scope_resolution) (constant)] @key))) @keys
