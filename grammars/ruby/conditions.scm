; `(_ condition: (_))` is an `if` or `unless`, also as a modifier: naming the node types would cost several times as
; much to match.
(program (_ condition: (_)) @condition)
(program [(begin) (case)] @condition)
(class body: (_ (_ condition: (_)) @condition))
(class body: (_ [(begin) (case)] @condition))
(module body: (_ (_ condition: (_)) @condition))
(module body: (_ [(begin) (case)] @condition))
(singleton_class body: (_ (_ condition: (_)) @condition))
