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

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
