; What a target is made from.
((rule (targets . (word) @_target) (prerequisites (word) @callee @call))
  (#not-match? @_target "%|^\\.[A-Z]") (#not-match? @callee "[%$*?]"))
