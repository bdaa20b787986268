; f x, M.f x
(_ function: (_ (module_path)? @receiver [(value_name) @callee (parenthesized_operator (_) @callee)])) @call
; M.(f x)
(local_open_expression (module_path) @receiver expression: (_ expression: (_ function: (_ . (value_name) @callee)))) @call
(new_expression (_ (module_path)? @receiver (class_name) @callee)) @call
(method_invocation object: (_) @receiver method: (_) @callee) @call
; raise (Closed 1)
((_ function: (_) @_raise argument: [
    (_ (module_path)? @receiver (constructor_name) @callee)
    (_ (_ function: (_ (module_path)? @receiver (constructor_name) @callee)))]) @call
  (#any-of? @_raise "raise" "raise_notrace"))

; Functions that are passed on: List.iter f x, List.map x ~f:M.g, x |> f, f @@ x
(_ argument: (_ . (value_name) @callee @bare))
(labeled_argument (_ . (value_name) @callee @bare))
(_ argument: (_ (module_path) @receiver (value_name) @callee)) @call
(labeled_argument (_ (module_path) @receiver (value_name) @callee)) @call
((_ operator: (_) @_operator right: (_ (module_path)? @receiver (value_name) @callee)) @call
  (#any-of? @_operator "|>" ">>=" ">>|" ">|=" ">|>" ">>"))
((_ left: (_ (module_path)? @receiver (value_name) @callee) operator: (_) @_operator) @call (#eq? @_operator "@@"))

(inheritance_definition class: [(class_path) @base (_ (class_path) @base)])
(inheritance_specification class_type: [(class_type_path) @base (_ (class_type_path) @base)])
(include_module module: [(module_path) @base (_ functor: (_) @base)])
(include_module_type [(module_type_path) @base (_ . (module_type_path) @base)])
; module A : S = …, module A = F (B)
(module_binding module_type: [(module_type_path) @base (_ . (module_type_path) @base)])
(module_binding body: (module_application functor: (_) @base))
