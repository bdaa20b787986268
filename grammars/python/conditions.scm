; `(_ condition: (_))` is an `if`: naming the node types would cost several times as much to match.
(module (_ condition: (_)) @condition)
(module [(try_statement) (match_statement) (with_statement)] @condition)
(class_definition body: (block (_ condition: (_)) @condition))
(class_definition body: (block [(try_statement) (match_statement)] @condition))
