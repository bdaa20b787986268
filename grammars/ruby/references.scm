((call receiver: (_)? @receiver method: [(identifier) (constant)] @callee) @call
  (#not-match? @callee "^(?:require(?:_relative)?|load|autoload|include|extend|prepend|private|protected|public|module_function|attr(?:_reader|_writer|_accessor)?|alias_method|define_method|private_constant|raise|lambda|proc|loop)$"))
(super) @callee @call
; `x.name = y` calls `name=`. Wildcards here and below: concrete node types take a dozen times as long to compile.
((assignment left: (_ object: (_) @receiver "[" @callee) @call) @setter (#match? @receiver "^(?:self|[A-Z])"))
(assignment left: (_ receiver: (_) @receiver method: (_) @callee) @call) @setter
(operator_assignment left: (_ receiver: (_) @receiver method: (_) @callee) @call) @setter
((_ method: (identifier) @_raise arguments: (_ . (_ scope: (_) @receiver name: (_) @callee))) @call
  (#any-of? @_raise "raise" "fail"))
((_ method: (identifier) @_raise arguments: (_ . (constant) @callee)) @call (#any-of? @_raise "raise" "fail"))
; Operators of the object around, and of constants: `Task[name]`, `self << x`.
((element_reference object: (_) @receiver "[" @callee) @call (#match? @receiver "^(?:self|[A-Z])"))
(_ left: (self) @receiver operator: _ @callee) @call

; A name that no local has is a call.
((identifier) @callee @bare
  (#not-match? @callee "^(?:require(?:_relative)?|load|autoload|include|extend|prepend|private|protected|public|module_function|attr(?:_reader|_writer|_accessor)?|alias_method|define_method|private_constant|raise|lambda|proc|loop|block_given\\?|binding|__method__|__dir__)$"))
[(alias) (undef)] @uncalled

; send(:name), method(:name)
((call receiver: (_)? @receiver method: (identifier) @_send arguments: (_ . (simple_symbol) @callee)) @call
  (#any-of? @_send "send" "public_send" "__send__" "method"))

(superclass [(constant) (scope_resolution)] @base)
; Options = Base.new(:x) do … def x; end … end: a Struct that has heirs
((_ left: (constant) right: (_ receiver: [(constant) (scope_resolution)] @base method: (identifier) @_new
  block: (_ body: (_ [(method) (singleton_method)]))))
  (#eq? @_new "new") (#not-any-of? @base "Struct" "Class" "Data" "Module"))
((_ left: (constant) right: (_ receiver: (constant) @_class method: (identifier) @_new
  arguments: (_ . [(constant) (scope_resolution)] @base)))
  (#eq? @_class "Class") (#eq? @_new "new"))
((_ method: (identifier) @_mixin arguments: (_ [(constant) (scope_resolution)] @base))
  (#any-of? @_mixin "include" "extend" "prepend"))
