(program [(if) (unless) (if_modifier) (unless_modifier) (begin) (case)] @condition)
(class body: (_ [(if) (unless) (if_modifier) (unless_modifier) (begin) (case)] @condition))
(module body: (_ [(if) (unless) (if_modifier) (unless_modifier) (begin) (case)] @condition))
(singleton_class body: (_ [(if) (unless) (if_modifier) (unless_modifier) (begin) (case)] @condition))
