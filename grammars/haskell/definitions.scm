(header module: (_) @package)

; A signature ends where its first equation starts; the extractor joins the two and the equations that follow.
(declarations (signature name: [(variable) @name (_ (operator) @name)]) @definition.function . (_)? @body)
(class_declarations (signature name: [(variable) @name (_ (operator) @name)]) @definition.function . (_)? @body)
(signature names: (_ name: [(variable) @name (_ (operator) @name)])) @definition.function
; function and bind
(declarations (_ name: (variable) @name match: (_) @body) @definition.function)
(class_declarations (_ name: (variable) @name match: (_) @body) @definition.function)
(instance_declarations (_ name: (variable) @name match: (_) @body) @definition.function)
; A syntax error takes the node around the definitions away.
(ERROR (signature name: [(variable) @name (_ (operator) @name)]) @definition.function . (_)? @body)
(ERROR (_ name: (variable) @name match: (_) @body) @definition.function)
; (<+>) a b = …
(function name: (_ (operator) @name) match: (_) @body) @definition.function
; a <+> b = …, a `op` b = …
(function (_ operator: [(operator) @name (_ (variable) @name)]) match: (_) @body) @definition.function
(foreign_import signature: (_ name: (_) @name)) @definition.function
(pattern_synonym (_ synonym: [(constructor) @name (_ (constructor) @name) (_ name: (_) @name)])) @definition.function

(data_type name: (_) @name constructors: (data_constructors . (_) .) @body) @definition.struct
(data_type name: (_) @name constructors: (_)? @body) @definition.enum
(newtype name: (_) @name constructor: (_) @body) @definition.struct
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name) @definition.type
(data_family name: (_) @name) @definition.type
; a comment above the first method is not a part of the signature
(class name: (_) @name [(comment) (haddock)] @body) @definition.class
(class name: (_) @name declarations: (_)? @body) @definition.class

(data_constructor constructor: [(_ name: (_) @name) (_ operator: (_) @name)]) @definition.enum_member
(newtype_constructor name: (_) @name) @definition.enum_member
(gadt_constructor name: (_) @name) @definition.enum_member
(field name: (_ (variable) @name)) @definition.field

(instance patterns: (_ . [(name) @name (_ . constructor: (name) @name) (_ (_ . constructor: (name) @name))])) @scope
(instance name: (_) @base)

(comment) @comment
; `-- ^` documents what is before it
((haddock) @comment (#not-match? @comment "^(?:--|\\{-)\\s*\\^"))
