; Keys of a table.
(table_constructor (field name: [(identifier) (string)] @key.name)) @keys
(table_constructor (field name: (number) @key)) @keys
