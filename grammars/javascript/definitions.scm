; `(_ body: (_) @body)` is a function or class as a value: naming the node types would cost ten times as much to compile.
; Patterns for classes stand before those for functions.

[(function_declaration name: (identifier) @name)
 (generator_function_declaration name: (identifier) @name)] @definition.function
(class_declaration name: (identifier) @name) @definition.class

; export default function () {}
(export_statement "default" @name value: (class !name body: (_) @body)) @definition.class
(export_statement "default" @name value: (_ body: (_) @body)) @definition.function

; const A = class {}, const f = () => {}
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
[(lexical_declaration . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) .)
 (variable_declaration . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) .)
] @definition.function
(variable_declarator name: (identifier) @name value: (_ body: (_) @body)) @definition.function

; Assignments. `(_ object: (_) property: (_))` is a member expression.
; module.exports = class A {}, module.exports = function f() {}, module.exports = () => {}
(assignment_expression left: (_ object: (_) @_module property: (_) @_exports) right: (class name: (_) @name)
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.class
(assignment_expression left: (_ object: (_) @_module property: (_) @_exports) right: (_ name: (_) @name body: (_) @body)
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(assignment_expression left: (_ object: (_) @_module property: (_) @name) right: (_ !name body: (_) @body)
  (#eq? @_module "module") (#eq? @name "exports")) @definition.function
; exports.A = class {}, A.b = class {}
(assignment_expression left: (_ object: (_) @_exports property: (_) @name) right: (class body: (_) @body)
  (#any-of? @_exports "exports" "module.exports")) @definition.class
(assignment_expression left: (_ object: (_) @parent property: (_) @name) right: (class body: (_) @body)
  (#not-eq? @parent "module")) @definition.class
; exports.f = function () {}, module.exports.f = () => {}
(assignment_expression left: (_ object: (_) @_exports property: (_) @name) right: (_ body: (_) @body)
  (#any-of? @_exports "exports" "module.exports")) @definition.function
; A.prototype.f = function () {}
(assignment_expression
  left: (_ object: (_ object: (_) @parent property: (_) @_prototype) property: (_) @name) right: (_ body: (_) @body)
  (#eq? @_prototype "prototype")) @definition.method
; this.f = function () {}
(assignment_expression left: (_ object: (this) property: (_) @name) right: (_ body: (_) @body)) @definition.method
; app.f = function () {}
(assignment_expression left: (_ object: (_) @parent property: (_) @name) right: (_ body: (_) @body)
  (#match? @parent "^[\\w$.]+$") (#not-eq? @parent "module")) @definition.method
; A.prototype = {…}, A.defaults = {…}
(assignment_expression left: (_ object: (_) @name property: (_) @_prototype) right: (object)
  (#eq? @_prototype "prototype")) @scope
(assignment_expression left: (_ property: (_)) @name right: (object)
  (#not-match? @name "exports$|^this\\b|^(module\\.)?exports\\.")) @scope

; f(function g() {}), return function g() {}, return class A {}
(arguments (function_expression name: (_) @name) @definition.function)
(return_statement (function_expression name: (_) @name) @definition.function)
(return_statement (class name: (_) @name) @definition.class)
(arguments (class name: (_) @name) @definition.class)

; Members of classes
(method_definition name: (property_identifier) @name (#eq? @name "constructor")) @definition.constructor
(method_definition name: [
  (property_identifier) @name
  (private_property_identifier) @name
  (computed_property_name) @name
  (string (string_fragment) @name)]) @definition.method
(field_definition property: (_) @name value: (_ body: (_) @body)) @definition.method
(field_definition property: (_) @name) @definition.field

; Functions in an object that has a name
(variable_declarator value: (object (pair key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))
(assignment_expression right: (object (pair key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))
(return_statement (object (pair key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))
(export_statement value: (object (pair key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))
(pair value: (object (pair key: (property_identifier) @name value: (_ body: (_) @body)) @definition.method))

; Variables of the module, and the properties of its objects. What holds a required module is an import.
(program [
  (lexical_declaration . (variable_declarator name: (identifier) @name !value) .)
  (variable_declaration . (variable_declarator name: (identifier) @name !value) .)
  (lexical_declaration . (variable_declarator name: (identifier) @name value: (_) @_value) .)
  (variable_declaration . (variable_declarator name: (identifier) @name value: (_) @_value) .)
  ] @definition.variable
  (#not-match? @_value "^require\\("))
(program [
  (lexical_declaration [
    (variable_declarator name: (identifier) @name !value)
    (variable_declarator name: (identifier) @name value: (_) @_value)] @definition.variable)
  (variable_declaration [
    (variable_declarator name: (identifier) @name !value)
    (variable_declarator name: (identifier) @name value: (_) @_value)] @definition.variable)]
  (#not-match? @_value "^require\\("))
(export_statement declaration: (_ . (variable_declarator name: (identifier) @name) .) @definition.variable)
(export_statement declaration: (_ (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement declaration: (_ (variable_declarator name: (object_pattern [
  (shorthand_property_identifier_pattern) @name
  (pair_pattern value: (identifier) @name)] @definition.variable))))
(program (expression_statement (assignment_expression left: (_ object: (_) @_exports property: (_) @name) right: (_) @_value)
  @definition.variable)
  (#any-of? @_exports "exports" "module.exports") (#not-match? @_value "^(require\\(|[A-Za-z_$][\\w$.]*$)"))
(program (_ (variable_declarator value: (object (pair key: (property_identifier) @name) @definition.property))))
(program (expression_statement (assignment_expression right: (object
  (pair key: (property_identifier) @name) @definition.property))))
(export_statement declaration: (_ (variable_declarator value: (object
  (pair key: (property_identifier) @name) @definition.property))))
(export_statement value: (object (pair key: (property_identifier) @name) @definition.property))

(comment) @comment
; The decorators of members and of classes without `export` are in the definition.
(export_statement decorator: (_) @attribute)

[(arrow_function) (function_expression) (generator_function) (function_declaration)
 (generator_function_declaration) (method_definition)] @function
