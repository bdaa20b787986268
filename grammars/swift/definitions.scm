(class_declaration declaration_kind: ["class" "actor"] name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (user_type) @name) @scope
(protocol_declaration name: (type_identifier) @name) @definition.interface
(enum_entry name: (simple_identifier) @name) @definition.enum_member
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(precedence_group_declaration (simple_identifier) @name) @definition.type
(macro_declaration "macro" . (simple_identifier) @name) @definition.macro

; The field `name` is on the result type too.
(function_declaration "func" . name: _ @name) @definition.function
(protocol_function_declaration "func" . name: _ @name) @definition.function
(operator_declaration "operator" . _ @name) @definition.function
(init_declaration "init" @name) @definition.constructor
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name) @definition.method

(property_declaration (pattern [(simple_identifier) @name (pattern (simple_identifier) @name)])) @definition.property
(protocol_property_declaration (pattern (simple_identifier) @name)) @definition.property

; The code of functions, closures, accessors and branches.
(statements) @local

[(comment) (multiline_comment)] @comment

; What an unfinished definition leaves in a broken file: its name at least.
(ERROR ["class" "actor"] @definition.class . (type_identifier) @name @definition.class)
(ERROR "struct" @definition.struct . (type_identifier) @name @definition.struct)
(ERROR "enum" @definition.enum . (type_identifier) @name @definition.enum)
(ERROR "func" @definition.function . (simple_identifier) @name @definition.function)
