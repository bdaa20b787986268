; Wildcards below a node cost nothing when the query is compiled, named nodes do; `!parameters` is every declarator but
; a function's.
; Parameters of methods.
(_ . ":" . (method_type (_ . (_) @typed.type)) . (identifier) @typed.name) @typed
; Parameters of functions, locals, variables of a file.
(_ type: (_) @typed.type declarator: [
  (identifier) @typed.name
  (_ !parameters !value declarator: (identifier) @typed.name)
  (_ !parameters declarator: (identifier) @typed.name value: (_))
  (_ !parameters declarator: (_ !parameters declarator: (identifier) @typed.name) value: (_))]) @typed
; Pointers to functions and blocks hide the function of their name.
(_ type: (_) declarator: (_ declarator: (_ (_ declarator: (identifier) @typed.name)) parameters: (_))) @typed
(_ type: (_) declarator: (_ declarator: (_ declarator: (_ (_ declarator: (identifier) @typed.name)) parameters: (_)))) @typed
; Properties and instance variables.
(struct_declaration . (_) @typed.type (_ [
  (identifier) @typed.name
  (_ !parameters declarator: (identifier) @typed.name)])) @typed
; What a method returns, but for `instancetype`.
((implementation_definition (_ . ["+" "-"] . (method_type (_ . (_) @typed.return)))) @typed
  (#not-match? @typed.return "^(void|id|instancetype)\\b"))
