(method_invocation !object name: (identifier) @callee) @call
(method_invocation object: (_) @receiver name: (identifier) @callee) @call
(object_creation_expression type: [
  (type_identifier) @callee
  (generic_type . (type_identifier) @callee)
  (scoped_type_identifier (_) @receiver (type_identifier) @callee .)
  (generic_type . (scoped_type_identifier (_) @receiver (type_identifier) @callee .))]) @call
(method_reference . (_) @receiver (identifier) @callee .) @call
(method_reference . (identifier) @callee "new") @call
; this(...), super(...)
(explicit_constructor_invocation constructor: (_) @callee) @call

(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
; new Base() { ... } and constants with a body are anonymous: they have no name to inherit with.
