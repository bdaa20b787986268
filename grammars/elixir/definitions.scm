; Everything is a call here. A wildcard in place of `call` or `arguments` makes the query cheap to compile.
((call target: (identifier) @_def . (_ . (alias) @name) (do_block)? @body) @definition.module
  (#any-of? @_def "defmodule" "defimpl"))
((call target: (identifier) @_def . (_ . (alias) @name) (do_block)? @body) @definition.interface
  (#eq? @_def "defprotocol"))

; f, f(x), f(x) when guard, left <> right
((call target: (identifier) @_def
  . (_ . [(identifier) @name (_ target: (identifier) @name) (_ left: (_ target: (identifier) @name))
          (_ left: (identifier) operator: _ @name)])
  (do_block)? @body) @definition.function
  (#any-of? @_def "def" "defp" "defdelegate" "defn" "defnp") (#not-match? @name "^(?:unquote|when)$"))
((call target: (identifier) @_def
  . (_ . [(identifier) @name (_ target: (identifier) @name) (_ left: (_ target: (identifier) @name))
          (_ left: (identifier) operator: _ @name)])
  (do_block)? @body) @definition.macro
  (#any-of? @_def "defmacro" "defmacrop" "defguard" "defguardp") (#not-match? @name "^(?:unquote|when)$"))

((call target: (identifier) @_def
  . (_ [(list [(atom) @name @definition.field (_ (pair key: (_) @name) @definition.field)])
        (_ (pair key: (_) @name) @definition.field)]))
  (#any-of? @_def "defstruct" "defexception"))

((call target: (identifier) @_test . (_ . (string (quoted_content) @name)) (do_block) @body) @definition.function
  (#any-of? @_test "test" "property"))

((unary_operator operand: (_ target: (identifier) @_at
  (_ . (_ left: [(identifier) @name (_ target: (identifier) @name)])))) @definition.type
  (#any-of? @_at "type" "typep" "opaque"))
((unary_operator operand: (_ target: (identifier) @_at
  (_ . (_ left: [(_ target: (identifier) @name) (_ left: (_ target: (identifier) @name))])))) @definition.function
  (#any-of? @_at "callback" "macrocallback"))
((unary_operator operator: "@" operand: (_ target: (identifier) @name)) @definition.constant
  (#not-match? @name "^(?:after_(?:compile|verify)|before_compile|behaviour|callback|compile|deprecated|derive|dialyzer|doc|enforce_keys|external_resource|fallback_to_any|impl|macrocallback|moduledoc|on_(?:definition|load)|opaque|optional_callbacks|shortdoc|since|spec|(?:module|describe)?tag|type|typedoc|typep|vsn)$"))

((unary_operator operand: (_ target: (identifier) @_at (_ . (_ . (quoted_content) @docstring))))
  (#eq? @_at "moduledoc"))
((unary_operator operand: (_ target: (identifier) @_at (_ . (_ . (quoted_content) @docstring)))) @comment
  (#any-of? @_at "doc" "typedoc"))
((unary_operator operand: (_ target: (identifier) @_at)) @attribute
  (#any-of? @_at "doc" "spec" "impl" "deprecated" "dialyzer" "since" "tag" "typedoc" "shortdoc"))

(comment) @comment

; Types look like calls.
((unary_operator operand: (_ target: (identifier) @_at)) @uncalled
  (#any-of? @_at "spec" "type" "typep" "opaque" "callback" "macrocallback" "dialyzer"))
