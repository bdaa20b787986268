(program [(if_statement) (try_statement) (switch_statement) (expression_statement (binary_expression))] @condition)
(class_static_block body: (_ [(if_statement) (try_statement)] @condition))
(decorator) @condition
