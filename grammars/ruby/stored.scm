; @h = method(:x)
((assignment left: (instance_variable) @stored.field
  right: (call !receiver method: (identifier) @_method arguments: (_ . (simple_symbol) @stored.method .))) @stored
  (#eq? @_method "method"))
