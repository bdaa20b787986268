; $this->h = [$this, 'm'], and $this->h = $this->m(...)
(assignment_expression left: (member_access_expression object: (_) @stored.object name: (name) @stored.field)
  right: (array_creation_expression . (_ (variable_name) @stored.value) . (_ (string (string_content) @stored.method)) .)) @stored
(assignment_expression left: (member_access_expression object: (_) @stored.object name: (name) @stored.field)
  right: (member_call_expression object: (_) @stored.value name: (name) @stored.method
    arguments: (arguments . (variadic_placeholder) .))) @stored
