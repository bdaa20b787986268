(library_name (dotted_identifier_list) @package)

(class_definition name: (identifier) @name body: (_)? @body) @definition.class
(class_definition (mixin_application_class . (identifier) @name)) @definition.class
(mixin_declaration (identifier) @name (class_body) @body) @definition.trait
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_constant name: (identifier) @name) @definition.enum_member
; Members of an extension without a name are named by its type.
(extension_declaration name: (identifier) @name body: (_) @body) @definition.class
(extension_declaration "extension" . (type_parameters)? . "on" . class: (_) @name) @scope
(extension_type_declaration name: (identifier) @name body: (_) @body) @definition.class
(type_alias (type_identifier) @name . [(type_parameters) (formal_parameter_list) "="]) @definition.type

; The head of a function and its body stand beside each other. A constructor has the name of its class, or one of its
; own after a dot.
(program (function_signature name: (identifier) @name) @definition.function . (function_body) @definition.function @body)
(lambda_expression (function_signature name: (identifier) @name) @definition.function . (function_body) @definition.function @body)
(_ (_ (function_signature name: (identifier) @name)) @definition.method . (function_body) @definition.method @body)
(_ (_ (operator_signature [(binary_operator) "~" "[]" "[]="] @name)) @definition.method . (function_body) @definition.method @body)
(program (_ ["get" "set"] . name: (identifier) @name) @definition.property . (function_body) @definition.property @body)
(_ (_ (_ ["get" "set"] . name: (identifier) @name)) @definition.property . (function_body) @definition.property @body)
(_ (_ (constructor_signature (identifier) @name . (formal_parameter_list))) @definition.constructor
  . (function_body) @definition.constructor @body)
(_ (_ (factory_constructor_signature (identifier) @name . (formal_parameter_list))) @definition.constructor
  . (function_body) @definition.constructor @body)
(declaration [
  (constructor_signature name: (identifier) @name . parameters: (formal_parameter_list))
  (constant_constructor_signature (identifier) @name . (formal_parameter_list))
  (factory_constructor_signature (identifier) @name . (formal_parameter_list))
  (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))]) @definition.constructor

(class_body (declaration (function_signature name: (identifier) @name)) @definition.method)
(class_body (declaration [(getter_signature name: (identifier) @name) (setter_signature name: (identifier) @name)]) @definition.property)
(declaration (_ (initialized_identifier . (identifier) @name))) @definition.field
(declaration (_ (static_final_declaration . (identifier) @name))) @definition.field
(declaration (identifier_list (identifier) @name)) @definition.field
(program (const_builtin) (static_final_declaration_list (static_final_declaration . (identifier) @name) @definition.constant))
(program (_ [(static_final_declaration . (identifier) @name) (initialized_identifier . (identifier) @name)] @definition.variable))

[(function_expression) (local_function_declaration)] @local
[(comment) (documentation_comment)] @comment
(annotation) @attribute
