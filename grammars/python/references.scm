(call function: (identifier) @callee) @call
(call function: (attribute object: (_) @receiver attribute: (identifier) @callee)) @call

(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
