(program [(if_statement) (try_statement) (switch_statement) (expression_statement (binary_expression))] @condition)
(internal_module body: (_ [(if_statement) (try_statement) (switch_statement)] @condition))
(class_static_block body: (_ [(if_statement) (try_statement)] @condition))
(decorator) @condition
