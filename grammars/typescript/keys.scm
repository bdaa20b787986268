; Keys of an object, labels of `switch`, members of an enum.
(object (pair key: [(property_identifier) (string)] @key.name)) @keys
(object (pair key: (number) @key)) @keys
(object (method_definition name: (property_identifier) @key.name)) @keys
(switch_body (switch_case value: [(string) (number) (member_expression) (identifier)] @key)) @keys
(enum_body name: (property_identifier) @key.name) @keys
(enum_body (enum_assignment name: (property_identifier) @key.name)) @keys
