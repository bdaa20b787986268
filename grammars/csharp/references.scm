; `this` and `base` are keywords without a node of their own: a receiver is any node.
(invocation_expression function: [
  (identifier) @callee
  (_ !qualifier !name !expression . (identifier) @callee (type_argument_list))
  (_ expression: _ @receiver name: [(identifier) @callee (_ . (identifier) @callee (type_argument_list))])
  (_ condition: (_) @receiver (_ name: [(identifier) @callee (_ . (identifier) @callee (type_argument_list))]))]) @call
(object_creation_expression type: [
  (identifier) @callee
  (_ !qualifier !name !expression . (identifier) @callee (type_argument_list))
  (_ qualifier: (_) @receiver name: [(identifier) @callee (_ . (identifier) @callee (type_argument_list))])]) @call
; `new(...)` is of the type that is declared.
(variable_declaration type: [(identifier) @callee (generic_name . (identifier) @callee)]
  (variable_declarator (implicit_object_creation_expression))) @call
(property_declaration type: (identifier) @callee value: (implicit_object_creation_expression)) @call
(method_declaration returns: (identifier) @callee body: (_ . (implicit_object_creation_expression))) @call
; Constructors of the same class and of its base.
(constructor_initializer ["this" "base"] @callee) @call
(base_list (identifier) @callee . (argument_list)) @call
(primary_constructor_base_type type: (identifier) @callee) @call

(base_list [
  (identifier) @base
  (generic_name) @base
  (qualified_name) @base
  (_ type: (_) @base)])
; An element of a table of functions.
(invocation_expression function: (element_access_expression expression: [
  (identifier) @callee
  (_ expression: _ @receiver name: (identifier) @callee)]) @element) @call
