; Functions in fields: Ops { open: f, close }, x.open = f.
(struct_expression name: (_) @stored.owner body: (field_initializer_list (field_initializer
  field: (field_identifier) @stored.field value: [(identifier) (scoped_identifier)] @stored.value))) @stored
(struct_expression name: (_) @stored.owner body: (field_initializer_list (shorthand_field_initializer
  (identifier) @stored.field @stored.value))) @stored
(assignment_expression left: (field_expression value: (_) @stored.object field: (_) @stored.field)
  right: [(identifier) (scoped_identifier)] @stored.value) @stored
; Tables of functions.
([(const_item name: (_) @stored.variable value: [(array_expression [(identifier) (scoped_identifier)] @stored.value)
    (reference_expression value: (array_expression [(identifier) (scoped_identifier)] @stored.value))])
  (static_item name: (_) @stored.variable value: [(array_expression [(identifier) (scoped_identifier)] @stored.value)
    (reference_expression value: (array_expression [(identifier) (scoped_identifier)] @stored.value))])
  (let_declaration pattern: (identifier) @stored.variable value: [
    (array_expression [(identifier) (scoped_identifier)] @stored.value)
    (reference_expression value: (array_expression [(identifier) (scoped_identifier)] @stored.value))])] @stored)
