; @h = method(:x)
((_ left: (instance_variable) @stored.field
  right: (_ !receiver method: (identifier) @_method arguments: (_ . (simple_symbol) @stored.method .))) @stored
  (#eq? @_method "method"))
