; A wildcard as a parent costs nothing to compile: concrete types would make it a third longer.
; @h = method(:x), @h = ->(x) { f(x) }, H = { a: method(:x) }.freeze
((assignment left: [(instance_variable) (constant) (identifier) (element_reference)] @stored.into
  right: (_ !receiver method: (identifier) @_method) @stored.tree) @stored
  (#any-of? @_method "method" "lambda" "proc"))
(assignment left: [(instance_variable) (constant) (identifier) (element_reference)] @stored.into
  right: [(lambda) (hash) (array)] @stored.tree) @stored
((assignment left: (constant) @stored.into right: (_ receiver: [(hash) (array)] method: (identifier) @_method) @stored.tree) @stored
  (#eq? @_method "freeze"))
; A parameter that is kept.
(assignment left: (instance_variable) @stored.into right: (identifier) @stored.tree) @stored
; f(method(:x)), f(on_done: method(:x)), f(&method(:x))
((call receiver: (_)? @stored.object method: (identifier) @stored.callee
  arguments: (_ [
    (_ !receiver method: (identifier) @_method) @stored.passed
    (pair value: (_ !receiver method: (identifier) @_method) @stored.passed)]) @stored.arguments) @stored
  (#any-of? @_method "method" "lambda" "proc"))
(call receiver: (_)? @stored.object method: (identifier) @stored.callee
  arguments: (_ [(lambda) @stored.passed (pair value: (lambda) @stored.passed)]) @stored.arguments) @stored
; An object that is passed: self, a field, a new one; to a constructor, also a variable.
((call receiver: (_)? @stored.object method: (identifier) @stored.callee
  arguments: (_ [
    [(self) (instance_variable) (_ receiver: (_) method: (identifier) @_new)] @stored.passed
    (pair value: [(self) (instance_variable) (_ receiver: (_) method: (identifier) @_new)] @stored.passed)
  ]) @stored.arguments) @stored
  (#eq? @_new "new"))
((call receiver: (_) @stored.object method: (identifier) @stored.callee
  arguments: (_ [(identifier) @stored.passed (pair value: (identifier) @stored.passed)]) @stored.arguments) @stored
  (#eq? @stored.callee "new"))
