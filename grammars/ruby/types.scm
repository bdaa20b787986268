; Parameters of methods, blocks and lambdas.
(method_parameters [(identifier) @typed.name (_ name: (identifier) @typed.name)]) @typed
(block_parameters [(identifier) @typed.name (_ name: (identifier) @typed.name)
  (destructured_parameter (identifier) @typed.name)]) @typed
(lambda_parameters [(identifier) @typed.name (_ name: (identifier) @typed.name)]) @typed

; A name that begins with @ is a member.
((assignment left: (_) @typed.name right: (_) @typed.value) @typed (#match? @typed.name "^@?[a-z_]\\w*$"))
((operator_assignment left: (_) @typed.name right: (_) @typed.value) @typed (#match? @typed.name "^@?[a-z_]\\w*$"))
(left_assignment_list [(identifier) @typed.name (_ (identifier) @typed.name)]) @typed
(for pattern: (identifier) @typed.name value: (_ (_) @typed.each)) @typed
(exception_variable (identifier) @typed.name) @typed
(array_pattern (identifier) @typed.name) @typed
(keyword_pattern key: (hash_key_symbol) @typed.name !value) @typed

(method body: (_) @typed.result) @typed
(singleton_method body: (_) @typed.result) @typed
(return (_ . (_) @typed.result .)) @typed
