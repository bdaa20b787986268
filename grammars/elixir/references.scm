((call target: (identifier) @callee) @call
  (#not-match? @callee "^(?:def\\w*|alias|and|behaviour|(?:macro)?callback|case|cond|deprecated|derive|describe|dialyzer|doc|for|if|impl|import|moduledoc|not|opaque|optional_callbacks|or|property|quote|raise|receive|require|setup|since|spec|super|(?:module|describe)?tag|test|throw|try|typep?|typedoc|unless|unquote(?:_splicing)?|use|with)$"))
(dot left: [(alias) (atom)] @receiver right: (identifier) @callee) @call
; `map.field` has no arguments
((call target: (_ left: (_) @receiver right: (identifier) @callee) (arguments)) @call
  (#not-match? @receiver "^[A-Z:]"))
(unary_operator operator: "&" operand: (_ left: (identifier) @callee operator: "/")) @call

((call target: (identifier) @_use . (_ . (alias) @base)) (#any-of? @_use "use" "defimpl"))
((unary_operator operand: (_ target: (identifier) @_at (_ . (alias) @base))) (#eq? @_at "behaviour"))
