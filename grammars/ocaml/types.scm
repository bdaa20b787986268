; Names in patterns, and values, hide what the module calls so.
(value_pattern) @typed.name @typed
((value_definition (_ . (value_name) @typed.name . "=" . (_) @_value)) @typed (#not-match? @_value "^fun"))
(value_definition (_ pattern: (_ (value_name) @typed.name))) @typed
(value_definition (_ . (value_name) @typed.name . "=" . [
  (value_path) @typed.value
  (new_expression) @typed.value
  (application_expression function: (new_expression) @typed.value)])) @typed
(parameter pattern: (typed_pattern pattern: (value_pattern) @typed.name type: (_) @typed.type)) @typed
(module_parameter (module_name) @typed.name module_type: (_) @typed.type) @typed
