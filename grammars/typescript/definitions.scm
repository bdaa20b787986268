; `(_ body: (_) @body)` is a function or class as a value: naming the node types would cost ten times as much to compile.
; Patterns for classes stand before those for functions.

[(function_declaration name: (_) @name)
 (generator_function_declaration name: (_) @name)
 (function_signature name: (_) @name)] @definition.function
[(class_declaration name: (_) @name)
 (abstract_class_declaration name: (_) @name)] @definition.class
(interface_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(enum_body [
  (property_identifier) @name
  (enum_assignment name: [(property_identifier) @name (string (string_fragment) @name)])] @definition.enum_member)
(type_alias_declaration name: (_) @name type_parameters: (_) value: (_) @body) @definition.type
(type_alias_declaration name: (_) @name value: (object_type) @body) @definition.type
(type_alias_declaration name: (_) @name) @definition.type
[(internal_module name: (_) @name) (module name: (identifier) @name) (module name: (nested_identifier) @name)] @definition.namespace
(module name: (string (string_fragment) @name)) @definition.module

; export default function () {}
(export_statement "default" @name value: (class !name body: (_) @body)) @definition.class
(export_statement "default" @name value: (_ body: (_) @body)) @definition.function

; const A = class {}, const f = () => {}
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
[(lexical_declaration . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) .)
 (variable_declaration . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) .)
] @definition.function
(variable_declarator name: (identifier) @name value: (_ body: (_) @body)) @definition.function

; app.f = function () {}; `(_ object: (_) property: (_))` is a member expression
(assignment_expression left: (_ object: (_) @parent property: (_) @name) right: (_ body: (_) @body)
  (#match? @parent "^[\\w$.]+$") (#not-match? @parent "^(this|module|exports|module\\.exports)$")) @definition.method
; f(function g() {}), return function g() {}, return class A {}
(arguments (function_expression name: (_) @name) @definition.function)
(return_statement (function_expression name: (_) @name) @definition.function)
(return_statement (class name: (_) @name) @definition.class)

; Members of classes and interfaces: a method has parameters.
(method_definition name: (property_identifier) @name (#eq? @name "constructor")) @definition.constructor
(method_signature name: (_) @name (#eq? @name "constructor")) @definition.constructor
(method_definition name: [
  (property_identifier) @name
  (private_property_identifier) @name
  (computed_property_name) @name
  (string (string_fragment) @name)]) @definition.method
(class_body (_ name: (_) @name parameters: (_)) @definition.method)
(class_body (_ name: (_) @name value: (_ body: (_) @body)) @definition.method)
(public_field_definition name: (_) @name) @definition.field
; constructor(private x: number)
[(required_parameter (accessibility_modifier) pattern: (identifier) @name)
 (optional_parameter (accessibility_modifier) pattern: (identifier) @name)] @definition.field
(interface_body (_ name: (_) @name parameters: (_)) @definition.method)
(interface_body (property_signature name: (_) @name) @definition.property)
(type_alias_declaration value: (_ (_ name: (property_identifier) @name parameters: (_)) @definition.method))
(type_alias_declaration value: (_ (property_signature name: (_) @name) @definition.property))

; Functions in an object that has a name
(variable_declarator value: (object (_ key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))
(return_statement (object (_ key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))
(pair value: (object (_ key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))

; Variables of the module, and the properties of its objects. What holds a required module is an import.
(program [
  (lexical_declaration . (variable_declarator name: (identifier) @name !value) .)
  (variable_declaration . (variable_declarator name: (identifier) @name !value) .)
  (lexical_declaration . (variable_declarator name: (identifier) @name value: (_) @_value) .)
  (variable_declaration . (variable_declarator name: (identifier) @name value: (_) @_value) .)
  ] @definition.variable
  (#not-match? @_value "^require\\("))
(program (_ [
  (variable_declarator name: (identifier) @name !value)
  (variable_declarator name: (identifier) @name value: (_) @_value)] @definition.variable)
  (#not-match? @_value "^require\\("))
(export_statement declaration: (_ . (variable_declarator name: (identifier) @name) .) @definition.variable)
(export_statement declaration: (_ (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement declaration: (_ (variable_declarator name: (_ [
  (shorthand_property_identifier_pattern) @name
  (pair_pattern value: (identifier) @name)] @definition.variable))))
(ambient_declaration (_ (variable_declarator name: (identifier) @name) @definition.variable))
(internal_module body: (_ (_ (variable_declarator name: (identifier) @name) @definition.variable)))
(module body: (_ (_ (variable_declarator name: (identifier) @name) @definition.variable)))
(program (_ (variable_declarator value: (object (_ key: (property_identifier) @name) @definition.property))))
(program (_ (variable_declarator value: (_ (object (_ key: (property_identifier) @name) @definition.property)))))
(export_statement declaration: (_ (variable_declarator value: (object
  (_ key: (property_identifier) @name) @definition.property))))
(export_statement declaration: (_ (variable_declarator value: (_ (object
  (_ key: (property_identifier) @name) @definition.property)))))
(export_statement value: (object (_ key: (property_identifier) @name) @definition.property))

(comment) @comment
; The decorators of fields and of classes without `export` are in the definition.
(class_body (decorator) @attribute)
(export_statement decorator: (_) @attribute)

[(arrow_function) (function_expression) (generator_function) (function_declaration)
 (generator_function_declaration) (method_definition)] @function
