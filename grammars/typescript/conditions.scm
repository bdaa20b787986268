; By fields, an `if`, a `try` and a `switch`: naming the node types would cost several times as much to match.
(program (_ condition: (_)) @condition)
(program (_ handler: (_)) @condition)
(program (_ value: (parenthesized_expression)) @condition)
(program (expression_statement (binary_expression) @condition))
(internal_module body: (_ [(if_statement) (try_statement) (switch_statement)] @condition))
(class_static_block body: (_ [(if_statement) (try_statement)] @condition))
