; Names in patterns, and what `let` and `where` bind: they hide what the module calls so. There is no type to follow.
(patterns (variable) @typed.name) @typed
(patterns (parens (_ argument: (variable) @typed.name))) @typed
(_ pattern: [(variable) @typed.name (_ argument: (variable) @typed.name)]) @typed
(local_binds (_ name: (variable) @typed.name)) @typed
; f = M.g
(local_binds (_ name: (variable) @typed.name match: (_ expression: [(variable) (qualified)] @typed.value))) @typed
