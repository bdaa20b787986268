; A category or an extension opens its class again.
(class_interface "@interface" . (identifier) @name) @definition.class
(class_implementation "@implementation" . (identifier) @name) @definition.class
(protocol_declaration "@protocol" . (identifier) @name) @definition.interface

; The name is the whole selector, of which @name is the first keyword. With `method_definition` in place of the
; wildcard these patterns take a fifth of a second to compile; so do names of leaves in declarations.
(_ . ["+" "-"] . (method_type) . (identifier) @name) @definition.method @selector
(_ . ["+" "-"] . (method_type) . (attribute_specifier) . (identifier) @name) @definition.method @selector
(_ . ["+" "-"] . (identifier) @name ";") @definition.method @selector
(implementation_definition (_ . ["+" "-"] . (identifier) @name) @definition.method @selector)

(property_declaration (struct_declaration (struct_declarator [
  (identifier) @name
  (_ declarator: [
    (identifier) @name
    (_ declarator: (identifier) @name)
    (_ (_ declarator: (identifier) @name))])]))) @definition.property
(instance_variable (struct_declaration (struct_declarator [
  (identifier) @name
  (_ declarator: [
    (identifier) @name
    (_ declarator: (identifier) @name)
    (_ (_ declarator: (identifier) @name))])]))) @definition.field

; Functions, also those that return pointers, and none of the class around. Prototypes are no definitions.
(function_definition
  declarator: [
    (_ declarator: (identifier) @name parameters: (_))
    (_ !parameters (_ declarator: (identifier) @name parameters: (_)))
    (_ !parameters (_ !parameters (_ declarator: (identifier) @name parameters: (_))))]) @definition.function @apart

; typedef struct { ... } Name: the alias is the type's only name.
(type_definition type: (_ "struct" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.struct @apart
(type_definition type: (_ "union" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.union @apart
(type_definition type: (_ "enum" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.enum @apart
; An alias beside a type with a body is its declarator alone: the whole typedef would seem to contain the type.
(type_definition
  type: (_ body: (_))
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)] @definition.type @apart)
; The last is a block or a pointer to a function.
(type_definition
  declarator: [
    (type_identifier) @name
    (_ declarator: [
      (type_identifier) @name
      (_ declarator: (type_identifier) @name)
      (_ (_ declarator: (type_identifier) @name))])]) @definition.type @apart

(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct @apart
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.union @apart
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum @apart
(enumerator name: (identifier) @name) @definition.enum_member

(preproc_def name: (identifier) @name) @definition.macro @apart
(preproc_function_def name: (identifier) @name) @definition.macro @apart

(field_declaration
  type: (_ name: (_) body: (_))
  declarator: [(field_identifier) @name (_ declarator: (field_identifier) @name)] @definition.field)
(field_declaration
  declarator: [
    (field_identifier) @name
    (_ declarator: [
      (field_identifier) @name
      (_ declarator: (field_identifier) @name)
      (_ (_ declarator: (field_identifier) @name))])]) @definition.field

; Variables: `extern` ones are no definitions. What is inside a function is dropped by the extractor.
(declaration
  . [type: (_) (_ ["static" "const" "volatile" "__unsafe_unretained" "__weak" "__strong"])]
  declarator: [
    (_ !declarator !parameters) @name
    (_ !parameters declarator: [
      (_ !declarator !parameters) @name
      (_ !parameters declarator: [
        (_ !declarator !parameters) @name
        (_ !parameters declarator: (_ !declarator !parameters) @name)])
      (_ declarator: (_ (_ declarator: (_ !declarator) @name)) parameters: (_))])
    (_ declarator: (_ (_ declarator: (_ !declarator) @name)) parameters: (_))]) @definition.variable @apart

(block_literal) @local
(comment) @comment
; A function whose body does not parse.
(ERROR (function_declarator declarator: (identifier) @name) @definition.function . "{")

; A macro's text is not parsed; source.syntax.macro_calls reads it.
[(preproc_function_def) (preproc_def value: (_))] @expansion
