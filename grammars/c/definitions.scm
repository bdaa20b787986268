; Functions, also those that return pointers, or pointers to functions. Prototypes are no definitions.
(function_definition
  declarator: [
    (function_declarator declarator: [
      (identifier) @name
      (parenthesized_declarator [
        (identifier) @name
        (_ declarator: (function_declarator declarator: (identifier) @name))])])
    (pointer_declarator declarator: [
      (function_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])
    (parenthesized_declarator (identifier) @name)]
  body: (_) @body) @definition.function
; EXPORT(int f(void)) { ... }, as error recovery leaves it.
((macro_type_specifier
  type: (type_descriptor type: (type_identifier) @name declarator: (abstract_function_declarator))) @definition.function
  . (compound_statement) @definition.function @body)

; typedef struct { ... } Name: the alias is the type's only name.
(type_definition type: (struct_specifier !name body: (_) @body) . declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body) . declarator: (type_identifier) @name) @definition.union
(type_definition type: (enum_specifier !name body: (_) @body) . declarator: (type_identifier) @name) @definition.enum

; An alias beside a type with a body is its declarator alone: the whole typedef would seem to contain the type.
(type_definition
  type: (_ body: (_))
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)] @definition.type)
(type_definition
  declarator: [
    (type_identifier) @name
    (_ declarator: (type_identifier) @name)
    (_ declarator: (_ declarator: (type_identifier) @name))
    (function_declarator declarator: (parenthesized_declarator [
      (type_identifier) @name
      (_ declarator: (type_identifier) @name)]))
    (_ declarator: (function_declarator
      declarator: (parenthesized_declarator (_ declarator: (type_identifier) @name))))]) @definition.type
; typedef int (WINAPI *Name)(int), as error recovery leaves it.
(type_definition type: (macro_type_specifier type: (type_descriptor type: (type_identifier) @name))) @definition.type

(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.union
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.enum_member

(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro

; Fields. One whose type has a name and a body is its declarator alone, as above.
(field_declaration
  type: (_ name: (_) body: (_))
  declarator: [(field_identifier) @name (_ declarator: (field_identifier) @name)] @definition.field)
(field_declaration
  declarator: [
    (field_identifier) @name
    (_ declarator: (field_identifier) @name)
    (_ declarator: (_ declarator: (field_identifier) @name))
    (_ declarator: (_ declarator: (_ declarator: (field_identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator [
      (_ declarator: (field_identifier) @name)
      (_ declarator: (_ declarator: (field_identifier) @name))]))
    (pointer_declarator declarator: (function_declarator
      declarator: (parenthesized_declarator (_ declarator: (field_identifier) @name))))]) @definition.field

; Variables: `extern` ones are no definitions. What is inside a function is dropped by the extractor.
(declaration
  type: (_ name: (_) body: (_))
  declarator: [
    (identifier) @name
    (_ declarator: (identifier) @name)
    (init_declarator declarator: (_ declarator: (identifier) @name))] @definition.variable)
(declaration
  . [type: (_) (storage_class_specifier "static") (type_qualifier)]
  declarator: [
    (identifier) @name
    (pointer_declarator declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: [(identifier) @name (_ declarator: (identifier) @name)])
    (init_declarator declarator: [
      (identifier) @name
      (_ declarator: (identifier) @name)
      (_ declarator: (_ declarator: (identifier) @name))])
    (function_declarator declarator: (parenthesized_declarator [
      (_ declarator: (identifier) @name)
      (_ declarator: (_ declarator: (identifier) @name))]))
    (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator [
      (_ declarator: (identifier) @name)
      (_ declarator: (_ declarator: (identifier) @name))])))]) @definition.variable

(comment) @comment
