; Functions in fields: Ops { open: f, close }, x.open = f.
(struct_expression name: (_) @stored.owner body: (field_initializer_list (field_initializer
  field: (field_identifier) @stored.field
  value: [(identifier) (scoped_identifier) (closure_expression)] @stored.value))) @stored
((struct_expression name: (_) @stored.owner body: (field_initializer_list (field_initializer
  field: (field_identifier) @stored.field
  value: (call_expression function: (scoped_identifier path: (identifier) @_box)) @stored.value))) @stored
  (#any-of? @_box "Box" "Arc" "Rc"))
(struct_expression name: (_) @stored.owner body: (field_initializer_list (shorthand_field_initializer
  (identifier) @stored.field @stored.value))) @stored
(assignment_expression left: (field_expression value: (_) @stored.object field: (_) @stored.field)
  right: [(identifier) (scoped_identifier) (closure_expression)] @stored.value) @stored
; Tables of functions.
[(const_item name: (_) @stored.into @stored.declared
    value: [(array_expression) (reference_expression value: (array_expression))] @stored.tree)
  (static_item name: (_) @stored.into @stored.declared
    value: [(array_expression) (reference_expression value: (array_expression))] @stored.tree)
  (let_declaration pattern: (identifier) @stored.into @stored.declared
    value: [(array_expression) (reference_expression value: (array_expression)) (closure_expression)] @stored.tree)] @stored
; table.insert(k, f)
((call_expression function: (field_expression value: (_) @stored.into field: (_) @_put)
  arguments: (arguments [(scoped_identifier) (identifier) (closure_expression) (type_cast_expression)] @stored.tree .)) @stored
  (#any-of? @_put "insert" "push" "push_back" "set" "add" "register"))
; f(|x| g(x))
(call_expression function: [(identifier) @stored.callee
    (scoped_identifier path: (_) @stored.object name: (_) @stored.callee)
    (field_expression value: (_) @stored.object field: (_) @stored.callee)]
  arguments: (arguments (closure_expression) @stored.passed) @stored.arguments) @stored
