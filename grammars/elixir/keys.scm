; Keys of a map. A keyword list may have one twice.
(map (map_content (binary_operator left: [(string) (integer) (atom)] @key operator: "=>"))) @keys
(map (map_content (keywords (pair key: (keyword) @key)))) @keys
