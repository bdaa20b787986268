; Functions, also those that return pointers, or pointers to functions. Prototypes are no definitions.
(function_definition
  declarator: [
    (_ declarator: (identifier) @name parameters: (_))
    (_ !parameters (_ declarator: (identifier) @name parameters: (_)))
    (_ !parameters (_ !parameters (_ declarator: (identifier) @name parameters: (_))))
    (_ declarator: (_ !parameters [
      (identifier) @name
      (_ !parameters (_ declarator: (identifier) @name parameters: (_)))]) parameters: (_))
    (parenthesized_declarator (identifier) @name)]) @definition.function
; EXPORT(int f(void)) { ... }, as error recovery leaves it.
((macro_type_specifier
  type: (type_descriptor type: (type_identifier) @name declarator: (abstract_function_declarator))) @definition.function
  . (compound_statement) @definition.function @body)

; typedef struct { ... } Name: the alias is the type's only name.
(type_definition type: (_ "struct" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.struct
(type_definition type: (_ "union" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.union
(type_definition type: (_ "enum" !name body: (_) @body) . declarator: (_ !declarator !parameters) @name) @definition.enum

; An alias beside a type with a body is its declarator alone: the whole typedef would seem to contain the type.
(type_definition
  type: (_ body: (_))
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)] @definition.type)
; `uint8_t` and its like are types that the grammar knows.
(type_definition
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (_ declarator: (type_identifier) @name)
    (_ declarator: (_ declarator: (type_identifier) @name))
    (function_declarator declarator: (parenthesized_declarator [
      (type_identifier) @name
      (_ declarator: (type_identifier) @name)]))
    (_ declarator: (function_declarator declarator: (parenthesized_declarator [
      (type_identifier) @name
      (_ declarator: (type_identifier) @name)])))]) @definition.type
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
; Wildcards below a node cost nothing when the query is compiled; `!parameters` is every declarator but a function's.
(declaration
  type: (_ name: (_) body: (_))
  declarator: [
    (_ !declarator !parameters) @name
    (_ !parameters declarator: [(identifier) @name (_ declarator: (identifier) @name)])] @definition.variable)
(declaration
  . [type: (_) (_ ["static" "const" "volatile" "thread_local" "__thread"])]
  declarator: [
    (identifier) @name
    (_ !parameters declarator: [
      (identifier) @name
      (_ !parameters declarator: [
        (identifier) @name
        (_ !parameters declarator: [(identifier) @name (_ !parameters declarator: (identifier) @name)])
        (_ declarator: (_ !parameters (_ declarator: (identifier) @name)) parameters: (_))])
      (_ declarator: (_ !parameters (_ declarator: [
        (identifier) @name
        (_ declarator: (identifier) @name)])) parameters: (_))])
    (_ declarator: (_ !parameters (_ declarator: [
      (identifier) @name
      (_ declarator: (identifier) @name)])) parameters: (_))]) @definition.variable

; A variable that points to a function, which the grammar takes for a product (`T *(*f)(int);`) or a call
; (`T (*f)(int) = g;`). In a function it is dropped like any other variable.
(expression_statement [
  (binary_expression operator: "*" right: (call_expression
    function: (parenthesized_expression (pointer_expression argument: (identifier) @name))))
  (call_expression function: (call_expression
    arguments: (argument_list . (pointer_expression argument: (identifier) @name) .)))
  (assignment_expression left: (call_expression function: (call_expression
    arguments: (argument_list . (pointer_expression argument: (identifier) @name) .))))]) @definition.variable

(comment) @comment @text
; A function whose body does not parse, such as one that an #if cuts in half.
(ERROR (function_declarator declarator: (identifier) @name) @definition.function . "{")

; A macro's text is not parsed; source.syntax.macro_calls reads it.
[(preproc_function_def) (preproc_def value: (_))] @expansion
