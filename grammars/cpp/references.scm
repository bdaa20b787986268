(call_expression function: [
  (identifier) @callee
  (_ !scope name: (identifier) @callee)
  (_ argument: (_) @receiver field: [
    (field_identifier) @callee
    (_ name: (field_identifier) @callee)
    (_ (_ name: (field_identifier) @callee))])
  (_ scope: (_) @receiver name: [
    (identifier) @callee
    (_ !scope name: (identifier) @callee)])
  (_ name: (_ scope: (_) @receiver name: [
    (identifier) @callee
    (_ !scope name: (identifier) @callee)]))
  (_ name: (_ name: (_ scope: (_) @receiver name: [
    (identifier) @callee
    (_ !scope name: (identifier) @callee)])))
  (_ (_ operator: "*" argument: (identifier) @callee))]) @call
(new_expression type: [
  (type_identifier) @callee
  (_ !scope name: (type_identifier) @callee)
  (_ scope: (_) @receiver name: [
    (type_identifier) @callee
    (_ !scope name: (type_identifier) @callee)])]) @call
; Name{...}
(compound_literal_expression type: [
  (type_identifier) @callee
  (_ !scope name: (type_identifier) @callee)
  (_ scope: (_) @receiver name: (type_identifier) @callee)]) @call

; Name v; Name v(...); Name v{...}
(declaration . type: (type_identifier) @callee declarator: (identifier)) @call
(_ . type: [
    (type_identifier) @callee
    (_ !scope name: (type_identifier) @callee)
    (_ scope: (_) @receiver name: [(type_identifier) @callee (_ name: (type_identifier) @callee)])]
  declarator: (_ value: [(argument_list) (initializer_list)])) @call
; Constructors of bases, and of the class itself. Fields stand there too, and only a capital tells which is which.
((field_initializer . [(field_identifier) @callee (_ name: (field_identifier) @callee)]) @call
  (#match? @callee "^[A-Z]"))
; std::make_unique<Name>(...)
(call_expression function: (_ name: (template_function name: (identifier) @_make arguments: (_ . (_ type: [
    (type_identifier) @callee
    (template_type name: (type_identifier) @callee)
    (_ scope: (_) @receiver name: (type_identifier) @callee)]))))
  (#any-of? @_make "make_unique" "make_shared")) @call

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
; A name as a whole statement is a macro.
(expression_statement . (identifier) @callee .) @call
; Through a pointer in a field or in a table: (*x->f)(), t[i](), x->t[i]().
(call_expression function: (parenthesized_expression
  (pointer_expression argument: (field_expression argument: (_) @receiver field: (field_identifier) @callee)))) @call
(call_expression function: (subscript_expression argument: [
  (identifier) @callee
  (field_expression argument: (_) @receiver field: (field_identifier) @callee)])) @call
