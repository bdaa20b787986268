(compilation_unit (package_clause name: (_) @package !body)+)
(package_clause name: (_) @name body: (_)) @definition.namespace

(class_definition name: (_) @name) @definition.class
(object_definition name: (_) @name) @definition.object
(package_object name: (_) @name) @definition.object
(trait_definition name: (_) @name) @definition.trait
(enum_definition name: (_) @name) @definition.enum
(enum_case_definitions [(simple_enum_case name: (_) @name) (full_enum_case name: (_) @name)] @definition.enum_member)
(type_definition name: (_) @name) @definition.type
(given_definition name: (_) @name) @definition.object
(given_definition !name return_type: [(type_identifier) (generic_type)] @name) @definition.object
; extension (xs: List[A]) def …
(extension_definition parameters: (parameters . (parameter type: (_) @name))) @scope

; The body is from the `=` on: a comment may follow it.
((function_definition name: (identifier) @name "="? @body) @definition.constructor (#eq? @name "this"))
; Members of an anonymous class are methods too: `new Show[A] { def show … }`.
(instance_expression "new" @name (template_body)) @scope
(function_definition name: (_) @name "="? @body) @definition.function
(function_declaration name: (_) @name) @definition.function

(class_parameter ["val" "var"] name: (_) @name) @definition.variable
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (_) @name) @definition.variable))
[
  (val_definition pattern: [(identifier) @name (identifiers (identifier) @name) (tuple_pattern (identifier) @name)])
  (var_definition pattern: [(identifier) @name (identifiers (identifier) @name) (tuple_pattern (identifier) @name)])
  (val_declaration name: (_) @name)
  (var_declaration name: (_) @name)
] @definition.variable

[(block) (indented_block) (case_clause) (lambda_expression)] @local

[(comment) (block_comment)] @comment
