((call target: (identifier) @callee) @call
  (#not-match? @callee "^(?:def\\w*|alias|and|behaviour|(?:macro)?callback|case|cond|deprecated|derive|describe|dialyzer|doc|for|if|impl|import|moduledoc|not|opaque|optional_callbacks|or|property|quote|raise|receive|require|setup|since|spec|super|(?:module|describe)?tag|test|throw|try|typep?|typedoc|unless|unquote(?:_splicing)?|use|with)$"))
(dot left: [(alias) (atom)] @receiver right: (identifier) @callee) @call
; `map.field` has no arguments
((call target: (_ left: (_) @receiver right: (identifier) @callee) (arguments)) @call
  (#not-match? @receiver "^[A-Z:]"))
(unary_operator operator: "&" operand: (_ left: (identifier) @callee operator: "/")) @call
; A pipe needs no parentheses.
(_ operator: "|>" right: (identifier) @callee) @call
; defdelegate f(x), to: A, as: :g
((call target: (identifier) @_def . (_ . [(identifier) @callee (_ target: (identifier) @callee)]
   (keywords . (pair key: (_) @_to value: (alias) @receiver) .))) @call
  (#eq? @_def "defdelegate") (#match? @_to "^to:"))
((call target: (identifier) @_def . (_ (keywords (pair key: (_) @_to value: (alias) @receiver)
   . (pair key: (_) @_as value: (atom) @callee)))) @call
  (#eq? @_def "defdelegate") (#match? @_to "^to:") (#match? @_as "^as:"))
; apply(A, :f, [x]), {A, :f, [x]}
((_ (_) @receiver . (atom) @callee . (list)) @call (#match? @receiver "^(?:[A-Z]|__MODULE__)"))

((call target: (identifier) @_use . (_ . (alias) @base)) (#any-of? @_use "use" "defimpl"))
((unary_operator operand: (_ target: (identifier) @_at (_ . (alias) @base))) (#eq? @_at "behaviour"))
