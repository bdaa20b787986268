; References to methods in fields and locals, which a call through an interface of the libraries reaches.
(field_declaration declarator: (_ name: (identifier) @stored.field value: (method_reference) @stored.value)) @stored
(assignment_expression left: (field_access object: (_) @stored.object field: (identifier) @stored.field)
  right: (method_reference) @stored.value) @stored
(assignment_expression left: (identifier) @stored.field right: (method_reference) @stored.value) @stored
(local_variable_declaration declarator: (_ name: (identifier) @stored.variable value: (method_reference) @stored.value)) @stored
