(namespace_definition name: (_) @package !body)
(namespace_definition name: (_) @name body: (_)) @definition.namespace

(function_definition name: (_) @name) @definition.function
(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(trait_declaration name: (_) @name) @definition.trait
(enum_declaration name: (_) @name) @definition.enum
(enum_case name: (_) @name) @definition.enum_member

(method_declaration name: (_) @name (#eq? @name "__construct")) @definition.constructor
(method_declaration name: (_) @name) @definition.method

; const A = 1; const A = 1, B = 2; define('A', 1)
(const_declaration . (visibility_modifier)? . (const_element . (name) @name) .) @definition.constant
(const_declaration (const_element . (name) @name) @definition.constant)
(function_call_expression
  function: (name) @_define arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @definition.constant

(property_declaration . (_) . (property_element name: (variable_name (name) @name)) .) @definition.field
(property_declaration (property_element name: (variable_name (name) @name)) @definition.field)
(property_promotion_parameter name: (variable_name (name) @name)) @definition.field

; Variables of the script
(program (expression_statement (assignment_expression left: (variable_name (name) @name))) @definition.variable)

[(anonymous_function) (arrow_function)] @local

(comment) @comment
