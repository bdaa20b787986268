; Wildcards below a node cost nothing when the query is compiled, named nodes do; `!parameters` is every declarator but
; a function's.

; gtest and its kind: TEST_F(Fixture, Name) { ... } is the function Fixture.Name.
((function_definition
  !type
  declarator: (_
    declarator: (identifier)
    parameters: (_
      . (_ !declarator type: (type_identifier) @parent)
      . (_ !declarator type: (type_identifier) @name) .))) @definition.function
  (#match? @definition.function "^(TYPED_)?TEST(_[FP])?\\s*[(]"))

; Constructors: no type before the name.
(field_declaration_list [
  (_ !type declarator: (_ declarator: (identifier) @name) [body: (_) (default_method_clause) (delete_method_clause)])
  (template_declaration (_ !type declarator: (_ declarator: (identifier) @name) body: (_) @body))
] @definition.constructor)
((function_definition
  !type
  declarator: (_ declarator: (_ scope: (_) @parent name: (identifier) @name))) @definition.constructor
  (#eq? @parent @name))

; Templates come first: the definition is then the whole template, with its parameters.
(template_declaration (_
  declarator: [
    (_ type: (_)) @name
    (_ declarator: [
      (_ !scope !arguments !declarator) @name
      (_ name: (_) @name arguments: (_))
      (_ scope: (_) @parent name: [
        (_ !scope !arguments) @name
        (_ name: (_) @name arguments: (_))
        (_ scope: (_) @parent name: (_ !scope) @name)])] parameters: (_))
    (_ !scope !parameters (_ declarator: [
      (_ !scope !arguments) @name
      (_ name: (_) @name arguments: (_))
      (_ scope: (_) @parent name: (_ !scope) @name)] parameters: (_)))]
  body: (_) @body)) @definition.function

(template_declaration (_ "class"
  name: [
    (_ !name) @name
    (_ !scope name: (_) @name)
    (_ scope: (_) @parent name: [(_ !name) @name (_ !scope name: (_) @name)])]
  body: (_) @body)) @definition.class
(template_declaration (_ "struct"
  name: [
    (_ !name) @name
    (_ !scope name: (_) @name)
    (_ scope: (_) @parent name: [(_ !name) @name (_ !scope name: (_) @name)])]
  body: (_) @body)) @definition.struct
(template_declaration [
  (alias_declaration name: (_) @name)
  (concept_definition name: (_) @name)]) @definition.type

; class EXPORT Name : Base { ... }, as error recovery leaves it.
(function_definition type: (_ "class" !body) declarator: (_ !declarator !scope !type) @name) @definition.class
(function_definition type: (_ "struct" !body) declarator: (_ !declarator !scope !type) @name) @definition.struct

((function_definition
  declarator: [
    (_ type: (_)) @name
    (_ scope: (_) @parent name: (_ type: (_)) @name)
    (_ declarator: [
      (_ !scope !arguments !declarator) @name
      (_ name: (_) @name arguments: (_))
      (_ scope: (_) @parent name: [
        (_ !scope !arguments) @name
        (_ name: (_) @name arguments: (_))
        (_ scope: (_) @parent name: (_ !scope) @name)])] parameters: (_))
    (_ !scope !parameters (_ declarator: [
      (_ !scope !declarator) @name
      (_ scope: (_) @parent name: [
        (_ !scope) @name
        (_ scope: (_) @parent name: (_ !scope) @name)])] parameters: (_)))]) @definition.function
  (#not-match? @name "^(TYPED_)?TEST(_[FP])?$"))

; A macro that names a function, as it is rewritten: BENCHMARK(name) { ... } is int (name) { ... }.
(function_definition type: (primitive_type) declarator: (parenthesized_declarator (identifier) @name)) @definition.function

; A pure virtual method has no other definition.
(field_declaration
  declarator: [
    (_ declarator: (_) @name parameters: (_))
    (_ (_ declarator: (_) @name parameters: (_)))]
  default_value: (number_literal)) @definition.method

(class_specifier
  name: [(_ !name) @name (_ !scope name: (_) @name) (_ scope: (_) @parent name: (_ !name) @name)]
  body: (_) @body) @definition.class
(struct_specifier
  name: [(_ !name) @name (_ !scope name: (_) @name) (_ scope: (_) @parent name: (_ !name) @name)]
  body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.union
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.enum_member

(namespace_definition
  name: [
    (namespace_identifier) @name
    (_ (namespace_identifier) @parent . [
      (namespace_identifier) @name
      (_ (namespace_identifier) @parent . (namespace_identifier) @name)])]) @definition.namespace

; typedef struct { ... } Name: the alias is the type's only name.
(type_definition type: (_ "struct" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.struct
(type_definition type: (_ "union" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.union
(type_definition type: (_ "enum" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.enum
; An alias beside a type with a body is its declarator alone: the whole typedef would seem to contain the type.
(type_definition
  type: (_ body: (_))
  declarator: [(type_identifier) @name (_ (type_identifier) @name)] @definition.type)
; `uint8_t` and its like are types that the grammar knows.
(type_definition
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (_ [
      (type_identifier) @name
      (_ [
        (type_identifier) @name
        (_ [(type_identifier) @name (_ (type_identifier) @name)])])])]) @definition.type
(alias_declaration name: (type_identifier) @name) @definition.type

(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro

; Fields. One whose type has a name and a body is its declarator alone, as above.
(field_declaration
  type: (_ name: (_) body: (_))
  declarator: [(field_identifier) @name (_ (field_identifier) @name)] @definition.field)
(field_declaration
  declarator: [
    (field_identifier) @name
    (_ !parameters [
      (field_identifier) @name
      (_ !parameters (field_identifier) @name)])
    (_ declarator: (_ !parameters (_ (field_identifier) @name)) parameters: (_))
    (_ !parameters (_ declarator: (_ !parameters (_ (field_identifier) @name)) parameters: (_)))]) @definition.field

; Variables: `extern` ones are no definitions. What is inside a function is dropped by the extractor.
(declaration
  type: (_ name: (_) body: (_))
  declarator: [(_ !declarator !parameters !scope) @name (_ !parameters declarator: (identifier) @name)] @definition.variable)
(declaration
  . [type: (_) (_ ["static" "inline" "thread_local" "const" "constexpr" "constinit"])]
  declarator: [
    (identifier) @name
    (_ !parameters declarator: [
      (identifier) @name
      (_ !parameters declarator: [(identifier) @name (_ declarator: (identifier) @name)])
      (reference_declarator (identifier) @name)
      (array_declarator declarator: (_ scope: (_) @parent name: (identifier) @name))
      (_ scope: (_) @parent name: [
        (identifier) @name
        (_ scope: (_) @parent name: (identifier) @name)])
      (_ declarator: (_ !parameters (_ declarator: (identifier) @name)) parameters: (_))])
    (_ scope: (_) @parent name: (identifier) @name)
    (_ declarator: (_ !parameters (_ declarator: (identifier) @name)) parameters: (_))]) @definition.variable

(lambda_expression) @local
(comment) @comment @text
; A function whose body does not parse, such as one that an #if cuts in half.
(ERROR (function_declarator declarator: (_ !scope) @name) @definition.function . "{")

; A macro's text is not parsed; source.syntax.macro_calls reads it.
[(preproc_function_def) (preproc_def value: (_))] @expansion
