(module [(if_statement) (try_statement) (match_statement) (with_statement)] @condition)
(class_definition body: (block [(if_statement) (try_statement) (match_statement)] @condition))
(decorator) @condition
