(file_scoped_namespace_declaration name: (_) @package)
(namespace_declaration
  name: [(identifier) @name (_ qualifier: (_) @parent name: (identifier) @name)]) @definition.namespace

(class_declaration name: (identifier) @name) @definition.class
(record_declaration "struct" name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(enum_member_declaration name: (identifier) @name) @definition.enum_member
(delegate_declaration name: (identifier) @name) @definition.type
(record_declaration (parameter_list (_ name: (identifier) @name) @definition.property))

(method_declaration name: (identifier) @name) @definition.method
; `else if` after an #endif looks like a function.
((local_function_statement name: (identifier) @name) @definition.function (#not-eq? @name "if"))
(constructor_declaration
  name: (identifier) @name
  (constructor_initializer)? @body) @definition.constructor
(destructor_declaration name: (identifier) @name) @definition.method
(operator_declaration operator: _ @name) @definition.method
(conversion_operator_declaration ["implicit" "explicit"] @name) @definition.method

(property_declaration name: (identifier) @name [accessors: (_) value: (_)] @body) @definition.property
(indexer_declaration "this" @name [accessors: (_) value: (_)] @body) @definition.property
(event_declaration name: (identifier) @name accessors: (_) @body) @definition.property
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (identifier) @name))) @definition.constant
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field

[(lambda_expression) (anonymous_method_expression)] @local
(comment) @comment
