(parameter name: (_) @typed.name type: (_) @typed.type) @typed
(container_field name: (_) @typed.name type: (_) @typed.type) @typed
(variable_declaration . (identifier) @typed.name . type: (_) @typed.type) @typed
; An initialiser; types and imports are definitions.
((variable_declaration . (identifier) @typed.name "=" . (_) @typed.value) @typed
  (#not-match? @typed.value "^(struct|enum|union|opaque|error|@import|@This)\\b"))
; for (list) |item|; if (maybe) |value|, while (next()) |value|
(for_statement . (_) @typed.each (payload . (identifier) @typed.name)) @typed
[(if_statement condition: (_) @typed.value . (payload (identifier) @typed.name))
 (if_expression condition: (_) @typed.value . (payload (identifier) @typed.name))
 (while_statement condition: (_) @typed.value . (payload (identifier) @typed.name))
 (while_expression condition: (_) @typed.value . (payload (identifier) @typed.name))] @typed
(switch_case (payload (identifier) @typed.name)) @typed
(catch_expression (payload (identifier) @typed.name)) @typed

(function_declaration type: (_) @typed.return) @typed
