(apply_expression function: (variable_expression name: (identifier) @callee)) @call
(apply_expression function: (select_expression expression: (_) @receiver attrpath: (attrpath attr: (identifier) @callee .))) @call
