; What a set or a `let` binds to a function, wherever it stands.
(binding attrpath: (attrpath attr: (identifier) @name .) expression: (function_expression body: (_) @body)) @definition.function
; Options of a module.
((binding attrpath: (attrpath attr: (identifier) @name .)
    expression: (apply_expression function: [
      (variable_expression name: (identifier) @_make)
      (select_expression attrpath: (attrpath attr: (identifier) @_make .))
      (apply_expression function: (variable_expression name: (identifier) @_make))
      (apply_expression function: (select_expression attrpath: (attrpath attr: (identifier) @_make .)))])) @definition.property
  (#match? @_make "^mk\\w*Option$"))
(let_expression (binding_set (binding attrpath: [
  (attrpath . attr: (identifier) @name .)
  (attrpath attr: (identifier) @parent . attr: (identifier) @name .)]) @definition.variable))
; The set that the file is, or that its function returns. Of a long path the last three names count.
(source_code expression: (_ (binding_set (binding attrpath: [
      (attrpath . attr: (identifier) @name .)
      (attrpath . attr: (identifier) @parent . attr: (identifier) @name .)
      (attrpath attr: (identifier) @parent . attr: (identifier) @parent . attr: (identifier) @name .)]) @definition.property)))
(source_code expression: (_ body: (_ (binding_set (binding attrpath: [
      (attrpath . attr: (identifier) @name .)
      (attrpath . attr: (identifier) @parent . attr: (identifier) @name .)
      (attrpath attr: (identifier) @parent . attr: (identifier) @parent . attr: (identifier) @name .)]) @definition.property))))
(source_code expression: (_ body: (_ body: (_ (binding_set (binding attrpath: [
      (attrpath . attr: (identifier) @name .)
      (attrpath . attr: (identifier) @parent . attr: (identifier) @name .)
      (attrpath attr: (identifier) @parent . attr: (identifier) @parent . attr: (identifier) @name .)]) @definition.property)))))
(source_code expression: (_ body: (_ body: (_ body: (_ (binding_set (binding attrpath: [
      (attrpath . attr: (identifier) @name .)
      (attrpath . attr: (identifier) @parent . attr: (identifier) @name .)
      (attrpath attr: (identifier) @parent . attr: (identifier) @parent . attr: (identifier) @name .)]) @definition.property))))))

(comment) @comment
