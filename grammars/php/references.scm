(function_call_expression function: [(name) @callee (relative_name . (name) @callee .)]) @call
(function_call_expression function: (_ prefix: (_) @receiver (name) @callee)) @call
(member_call_expression object: (_) @receiver name: [(name) (variable_name)] @callee) @call
(nullsafe_member_call_expression object: (_) @receiver name: [(name) (variable_name)] @callee) @call
(scoped_call_expression scope: (_) @receiver name: [(name) (variable_name)] @callee) @call
(object_creation_expression [(name) @callee (relative_name . (name) @callee .)]) @call
(object_creation_expression (_ prefix: (_) @receiver (name) @callee)) @call
; [$this, 'method'], [self::class, 'method']
((array_creation_expression . (_ [(variable_name) @receiver (class_constant_access_expression . (_) @receiver)] @_object)
   . (_ (string (string_content) @callee)) .) @call (#match? @_object "^\\$this$|::class$"))
; array_map('f', …), usort($x, 'f')
((function_call_expression function: (name) @_taker arguments: (_ (argument (string (string_content) @callee)))) @call
  (#any-of? @_taker "array_map" "array_filter" "array_reduce" "array_walk" "usort" "uasort" "uksort" "call_user_func"
    "call_user_func_array" "preg_replace_callback" "spl_autoload_register" "register_shutdown_function")
  (#match? @callee "^\\w+$"))
(attribute (name) @callee) @call
(attribute (_ prefix: (_) @receiver (name) @callee)) @call

(class_declaration (base_clause (_) @base))
(class_declaration (class_interface_clause (_) @base))
(interface_declaration (base_clause (_) @base))
(enum_declaration (class_interface_clause (_) @base))
(declaration_list (use_declaration [(name) (qualified_name)] @base))
(enum_declaration_list (use_declaration [(name) (qualified_name)] @base))
; ($this->h)($x), call_user_func($this->h, $x)
(function_call_expression function: (parenthesized_expression
  (member_access_expression object: (_) @receiver name: (name) @callee))) @call
((function_call_expression function: (name) @_caller arguments: (_ . (argument
  (member_access_expression object: (_) @receiver name: (name) @callee)))) @call
  (#any-of? @_caller "call_user_func" "call_user_func_array"))
; $f($x), $this->h[$k]($x), $handlers[$k]($x)
(function_call_expression function: [
  (variable_name) @callee
  (subscript_expression . [(variable_name) @callee (member_access_expression object: (_) @receiver name: (name) @callee)]) @element]) @call
((function_call_expression function: (name) @_caller arguments: (_ . (argument [
    (variable_name) @callee
    (subscript_expression . [(variable_name) @callee (member_access_expression object: (_) @receiver name: (name) @callee)]) @element]))) @call
  (#any-of? @_caller "call_user_func" "call_user_func_array"))
