; A comment between the first line and the body is not a part of the signature.
(module name: (constant) @name . (comment)? @body) @definition.module
(module name: (_ scope: (_)? @parent name: (constant) @name) . (comment)? @body) @definition.module
(class name: (constant) @name superclass: (_)? . (comment)? @body) @definition.class
(class name: (_ scope: (_)? @parent name: (constant) @name) superclass: (_)? . (comment)? @body) @definition.class

(program (method name: (_) @name) @definition.function)
(method name: (_) @name parameters: (_)? . (comment)? @body) @definition.method
(singleton_method name: (_) @name) @definition.method
(alias name: (_) @name) @definition.method

; Point = Struct.new(:x, :y) do … end. A wildcard as a parent costs nothing to compile, `call` costs 10 ms.
((_ left: (constant) @name
  right: (_ receiver: (constant) @_type method: (identifier) @_new block: (_)? @body)) @definition.class
  (#any-of? @_type "Struct" "Data" "Class") (#any-of? @_new "new" "define"))
; Options = Base.new(:x) do … def x; end … end: of a Struct that has heirs
((_ left: (constant) @name
  right: (_ receiver: (constant) @_type method: (identifier) @_new block: (_ body: (_ [(method) (singleton_method)])) @body)) @definition.class
  (#not-any-of? @_type "Struct" "Data" "Class" "Module") (#eq? @_new "new"))
((_ receiver: (constant) @_type method: (identifier) @_new
  arguments: (_ (simple_symbol) @name @definition.property))
  (#any-of? @_type "Struct" "Data") (#any-of? @_new "new" "define"))

; Concrete node types here would triple the time to compile the query.
((assignment left: (_) @name) @definition.variable (#match? @name "^(?:@@?|\\$|[A-Z])\\w*$"))
((operator_assignment left: (_) @name) @definition.constant (#match? @name "^[A-Z]\\w*$"))
(assignment left: (_ scope: (_) @parent name: (constant) @name)) @definition.constant
(left_assignment_list (constant) @name @definition.constant)

((_ method: (identifier) @_macro arguments: (_ (simple_symbol) @name)) @definition.property
  (#any-of? @_macro "attr_accessor" "attr_reader" "attr_writer" "attr" "cattr_accessor" "mattr_accessor"
    "class_attribute" "thread_mattr_accessor"))
((_ method: (identifier) @_macro arguments: (_ . (simple_symbol) @name)) @definition.method
  (#any-of? @_macro "alias_method" "define_method" "define_singleton_method"))

[(do_block) (block) (lambda)] @local
(singleton_class) @static

(comment) @comment
