((call receiver: (_)? @receiver method: [(identifier) (constant)] @callee) @call
  (#not-match? @callee "^(?:require(?:_relative)?|load|autoload|include|extend|prepend|private|protected|public|module_function|attr(?:_reader|_writer|_accessor)?|alias_method|define_method|private_constant|raise|lambda|proc|loop)$"))

; A bare name may be a local variable. It is a call if its last letter says so, if its value is thrown away, or if it is
; all of a method's body.
((identifier) @callee @call (#match? @callee "[?!]$"))
(method body: (_ (identifier) @callee @call . (_)))
(method body: (_ . (identifier) @callee @call .))
(method body: (identifier) @callee @call)

(superclass [(constant) (scope_resolution)] @base)
((_ left: (constant) right: (_ receiver: (constant) @_class method: (identifier) @_new
  arguments: (_ . [(constant) (scope_resolution)] @base)))
  (#eq? @_class "Class") (#eq? @_new "new"))
((_ method: (identifier) @_mixin arguments: (_ [(constant) (scope_resolution)] @base))
  (#any-of? @_mixin "include" "extend" "prepend"))
