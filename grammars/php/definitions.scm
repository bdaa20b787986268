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

; The whole declaration if it declares one name, else the name's part of it.
[(const_declaration . (const_element . (name) @name) .)
 (const_declaration (visibility_modifier) . (const_element . (name) @name) .)
 (const_declaration type: (_) . (const_element . (name) @name) .)] @definition.constant
(const_declaration (const_element . (name) @name) @definition.constant)
[(property_declaration type: (_) . (property_element name: (_ (name) @name)) .)
 (property_declaration [(visibility_modifier) (static_modifier) (readonly_modifier) (var_modifier)]
  . (property_element name: (_ (name) @name)) .)] @definition.field
(property_declaration (property_element name: (_ (name) @name)) @definition.field)
; define('A', 1)
(function_call_expression
  function: (name) @_define arguments: (_ . (_ (string (string_content) @name))) (#eq? @_define "define")) @definition.constant
; __construct(private int $x)
(property_promotion_parameter name: (_ (name) @name)) @definition.field

; Variables of the script
(program (expression_statement (assignment_expression left: (variable_name (name) @name))) @definition.variable)

(comment) @comment
