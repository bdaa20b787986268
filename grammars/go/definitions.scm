; A spec in `type ( … )` is a definition of its own; a single one is the whole declaration, with its keyword.
(type_declaration "(" (type_spec name: (type_identifier) @name
  type: (struct_type (field_declaration_list) @body) (#not-eq? @name "_")) @definition.struct)
(type_declaration "(" (type_spec name: (type_identifier) @name
  type: (interface_type "{" @body) (#not-eq? @name "_")) @definition.interface)
(type_declaration "(" [(type_spec name: (type_identifier) @name) (type_alias name: (type_identifier) @name)]
  @definition.type (#not-eq? @name "_"))
(type_declaration (type_spec name: (type_identifier) @name
  type: (struct_type (field_declaration_list) @body)) (#not-eq? @name "_")) @definition.struct
(type_declaration (type_spec name: (type_identifier) @name
  type: (interface_type "{" @body)) (#not-eq? @name "_")) @definition.interface
(type_declaration [(type_spec name: (type_identifier) @name) (type_alias name: (type_identifier) @name)]
  (#not-eq? @name "_")) @definition.type

(function_declaration name: (identifier) @name (#not-eq? @name "_")) @definition.function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @parent))
  name: (field_identifier) @name (#not-eq? @name "_")) @definition.method
(method_elem name: (field_identifier) @name (#not-eq? @name "_")) @definition.method
(field_declaration name: (field_identifier) @name (#not-eq? @name "_")) @definition.field

; Package level only.
(source_file (const_declaration "("
  (const_spec (identifier) @name (#not-eq? @name "_")) @definition.constant))
(source_file (const_declaration
  (const_spec (identifier) @name (#not-eq? @name "_"))) @definition.constant)
(source_file (var_declaration (var_spec_list
  (var_spec name: (identifier) @name (#not-eq? @name "_")) @definition.variable)))
(source_file (var_declaration
  (var_spec name: (identifier) @name (#not-eq? @name "_"))) @definition.variable)

(func_literal) @local

(package_clause (package_identifier) @package)

(comment) @comment @text
