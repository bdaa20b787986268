(package_header (qualified_identifier) @package)

(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name (enum_class_body)? @body) @definition.enum
(class_declaration name: (identifier) @name (class_body)? @body) @definition.class
(object_declaration name: (identifier) @name (class_body)? @body) @definition.object
; A companion without a name is no definition: its members are written, and found, as members of the class.
(companion_object name: (identifier) @name (class_body)? @body) @definition.object
(companion_object) @static
; In `class A(b: B) : B by b { … }` the grammar may take the body for a lambda given to `b`.
(class_declaration name: (identifier) @name (delegation_specifiers (delegation_specifier
  (explicit_delegation (call_expression (annotated_lambda (lambda_literal) @scope))))))
(object_declaration name: (identifier) @name (delegation_specifiers (delegation_specifier
  (explicit_delegation (call_expression (annotated_lambda (lambda_literal) @scope))))))
(enum_entry (identifier) @name (class_body)? @body) @definition.enum_member
(type_alias type: (identifier) @name) @definition.type

; Extensions name their receiver.
(function_declaration [(user_type) @parent (nullable_type (user_type) @parent)] . name: (identifier) @name
  (function_body)? @body) @definition.function
; Members of anonymous objects and enum entries are methods too.
(class_body (function_declaration name: (identifier) @name (function_body)? @body) @definition.method)
(function_declaration name: (identifier) @name (function_body)? @body) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.constructor

(class_parameter ["val" "var"] . (identifier) @name) @definition.property
(property_declaration (modifiers (property_modifier "const")) (variable_declaration . (identifier) @name)) @definition.constant
(property_declaration [(user_type) @parent (nullable_type (user_type) @parent)]
  . (variable_declaration . (identifier) @name)) @definition.property
(property_declaration (variable_declaration . (identifier) @name)) @definition.property
(property_declaration (multi_variable_declaration (variable_declaration . (identifier) @name))) @definition.property

[(lambda_literal) (anonymous_function) (block) (getter) (setter)] @local

[(line_comment) (block_comment)] @comment
; The grammar reads the first of several annotations of a top-level definition as an expression of its own.
(source_file (annotated_expression (annotation) [(parenthesized_expression) (annotated_expression)] .) @attribute)

; What an unfinished definition leaves in a broken file: its name at least.
(ERROR ["class" "interface"] @definition.class . (identifier) @name @definition.class)
(ERROR "object" @definition.object . (identifier) @name @definition.object)
(ERROR "fun" @definition.function . (identifier) @name @definition.function)
