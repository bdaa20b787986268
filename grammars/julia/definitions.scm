(module_definition name: (identifier) @name) @definition.module

(struct_definition (type_head [
  (identifier) @name
  (_ . (identifier) @name)
  (_ . (_ . (identifier) @name))])) @definition.struct
([(abstract_definition (type_head [(identifier) @name (_ . (identifier) @name) (_ . (_ . (identifier) @name))]))
  (primitive_definition (type_head [(identifier) @name (_ . (identifier) @name) (_ . (_ . (identifier) @name))]))] @definition.type)
(struct_definition [
  (typed_expression . (identifier) @name)
  (assignment . (typed_expression . (identifier) @name))
  (assignment . (identifier) @name)
  (identifier) @name] @definition.field)

; `f(x)`, `Base.f(x)`, `f{T}(x)`, with a type and `where` around it. A constructor has the name of its type.
(function_definition (signature [
  (identifier) @name
  (call_expression . [(identifier) (operator)] @name)
  (call_expression . (field_expression [(identifier) (operator)] @name .))
  (call_expression . (parametrized_type_expression . (identifier) @name))
  (_ . (call_expression . [(identifier) (operator)] @name))
  (_ . (call_expression . (field_expression [(identifier) (operator)] @name .)))
  (_ . (call_expression . (parametrized_type_expression . (identifier) @name)))
  (_ . (_ . (call_expression . [(identifier) (operator)] @name)))
  (_ . (_ . (call_expression . (field_expression [(identifier) (operator)] @name .))))])) @definition.function
(assignment . [
  (call_expression . [(identifier) (operator)] @name)
  (call_expression . (field_expression [(identifier) (operator)] @name .))
  (call_expression . (parametrized_type_expression . (identifier) @name))
  (where_expression . (call_expression . [(identifier) (operator)] @name))
  (where_expression . (call_expression . (field_expression [(identifier) (operator)] @name .)))
  (where_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
  (typed_expression . (call_expression . [(identifier) (operator)] @name))
  (where_expression . (typed_expression . (call_expression . [(identifier) (operator)] @name)))]) @definition.function
(macro_definition (signature (call_expression . (identifier) @name))) @definition.macro

(const_statement (assignment . [(identifier) (operator)] @name)) @definition.constant
(const_statement (assignment . (parametrized_type_expression . (identifier) @name))) @definition.constant
(const_statement (assignment . (typed_expression . (identifier) @name))) @definition.constant
(source_file (assignment . (identifier) @name) @definition.variable)
(module_definition (assignment . (identifier) @name) @definition.variable)
(global_statement (assignment . (identifier) @name)) @definition.variable
((macrocall_expression (macro_identifier (identifier) @_enum) (macro_argument_list . (identifier) @name)) @definition.enum
  (#eq? @_enum "enum"))

(signature) @uncalled
(assignment . [(call_expression) (where_expression) (typed_expression)] @uncalled)
[(let_statement) (do_clause)] @local

((string_literal (content) @docstring) @comment
  . [(function_definition) (assignment) (struct_definition) (abstract_definition) (const_statement) (macro_definition)
     (module_definition) (macrocall_expression) (primitive_definition)])
[(line_comment) (block_comment)] @comment
