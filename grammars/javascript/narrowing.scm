; What tests say of names, for TypeScript as well: `x instanceof T`, `"f" in x`, `x.kind === "a"`. A name is what it is
; in the branch, in the other one, after `&&`, and after an `if` that leaves.
(if_statement
  condition: (_ [
    (binary_expression left: [(identifier) (member_expression)] @narrowed.name operator: "instanceof"
      right: [(identifier) (member_expression)] @narrowed.type)
    (binary_expression left: (string) @narrowed.field operator: "in" right: [(identifier) (member_expression)] @narrowed.name)
    (binary_expression
      left: (member_expression object: [(identifier) (member_expression)] @narrowed.name
        property: (property_identifier) @narrowed.field)
      operator: ["===" "==" "!==" "!="] @narrowed.sign
      right: [(string) (member_expression) (true) (false)] @narrowed.value)])
  consequence: (_) @narrowed.body
  alternative: (_)? @narrowed.else) @narrowed
(binary_expression
  left: [
    (binary_expression left: [(identifier) (member_expression)] @narrowed.name operator: "instanceof"
      right: [(identifier) (member_expression)] @narrowed.type)
    (binary_expression left: (string) @narrowed.field operator: "in" right: [(identifier) (member_expression)] @narrowed.name)
    (binary_expression
      left: (member_expression object: [(identifier) (member_expression)] @narrowed.name
        property: (property_identifier) @narrowed.field)
      operator: ["===" "==" "!==" "!="] @narrowed.sign
      right: [(string) (member_expression) (true) (false)] @narrowed.value)]
  operator: "&&"
  right: (_) @narrowed.body) @narrowed
(if_statement
  condition: (_ (binary_expression
    left: [
      (binary_expression left: [(identifier) (member_expression)] @narrowed.name operator: "instanceof"
        right: [(identifier) (member_expression)] @narrowed.type)
      (binary_expression left: (string) @narrowed.field operator: "in"
        right: [(identifier) (member_expression)] @narrowed.name)
      (binary_expression
        left: (member_expression object: [(identifier) (member_expression)] @narrowed.name
          property: (property_identifier) @narrowed.field)
        operator: ["===" "==" "!==" "!="] @narrowed.sign
        right: [(string) (member_expression) (true) (false)] @narrowed.value)]
    operator: "&&"))
  consequence: (_) @narrowed.body) @narrowed
(ternary_expression
  condition: [
    (binary_expression left: [(identifier) (member_expression)] @narrowed.name operator: "instanceof"
      right: [(identifier) (member_expression)] @narrowed.type)
    (binary_expression left: (string) @narrowed.field operator: "in" right: [(identifier) (member_expression)] @narrowed.name)
    (binary_expression
      left: (member_expression object: [(identifier) (member_expression)] @narrowed.name
        property: (property_identifier) @narrowed.field)
      operator: ["===" "==" "!==" "!="] @narrowed.sign
      right: [(string) (member_expression) (true) (false)] @narrowed.value)]
  consequence: (_) @narrowed.body
  alternative: (_) @narrowed.else) @narrowed

(statement_block (if_statement condition: (_ (unary_expression operator: "!" argument: (_ (binary_expression
    left: [(identifier) (member_expression)] @narrowed.name operator: "instanceof"
    right: [(identifier) (member_expression)] @narrowed.type))))
  consequence: [(return_statement) (throw_statement) (_ [(return_statement) (throw_statement)] .)])
  . (_) @narrowed.body "}" @narrowed.body) @narrowed
(statement_block (if_statement condition: (_ (unary_expression operator: "!" argument: (_ (binary_expression
    left: (string) @narrowed.field operator: "in" right: [(identifier) (member_expression)] @narrowed.name))))
  consequence: [(return_statement) (throw_statement) (_ [(return_statement) (throw_statement)] .)])
  . (_) @narrowed.body "}" @narrowed.body) @narrowed
; After `if (x.kind === "a") return;` x is something else.
(statement_block (if_statement condition: (_ [
    (binary_expression left: (string) @narrowed.field operator: "in" right: [(identifier) (member_expression)] @narrowed.name)
    (binary_expression
      left: (member_expression object: [(identifier) (member_expression)] @narrowed.name
        property: (property_identifier) @narrowed.field)
      operator: ["===" "==" "!==" "!="] @narrowed.sign
      right: [(string) (member_expression) (true) (false)] @narrowed.value)])
  consequence: [(return_statement) (throw_statement) (_ [(return_statement) (throw_statement)] .)])
  . (_) @narrowed.else "}" @narrowed.else) @narrowed
; After `if (!x || x.kind !== "a") return;`.
(statement_block (if_statement condition: (_ (binary_expression operator: "||"
    right: (unary_expression operator: "!" argument: (_ (binary_expression
      left: [(identifier) (member_expression)] @narrowed.name operator: "instanceof"
      right: [(identifier) (member_expression)] @narrowed.type)))))
  consequence: [(return_statement) (throw_statement) (_ [(return_statement) (throw_statement)] .)])
  . (_) @narrowed.body "}" @narrowed.body) @narrowed
(statement_block (if_statement condition: (_ (binary_expression operator: "||"
    right: (binary_expression
      left: (member_expression object: [(identifier) (member_expression)] @narrowed.name
        property: (property_identifier) @narrowed.field)
      operator: ["===" "==" "!==" "!="] @narrowed.sign
      right: [(string) (member_expression) (true) (false)] @narrowed.value)))
  consequence: [(return_statement) (throw_statement) (_ [(return_statement) (throw_statement)] .)])
  . (_) @narrowed.else "}" @narrowed.else) @narrowed

(switch_statement
  value: (_ (member_expression object: [(identifier) (member_expression)] @narrowed.name
    property: (property_identifier) @narrowed.field))
  body: (switch_body) @narrowed.cases) @narrowed
