; use A\B\C; use A\B\C as D; use function A\f;
(namespace_use_declaration (namespace_use_clause
  (qualified_name prefix: (_) @import.module (name) @import.name) alias: (_)? @import.alias)) @import
(namespace_use_declaration !body (namespace_use_clause . (name) @import.name alias: (_)? @import.alias)) @import
; use A\{B, C as D};
(namespace_use_declaration (namespace_name) @import.module
  body: (_ (namespace_use_clause . [(name) (qualified_name)] @import.name alias: (_)? @import.alias))) @import

; require 'a.php'; require_once __DIR__ . '/a.php';
[(require_expression (string (string_content) @import.module))
 (require_once_expression (string (string_content) @import.module))
 (include_expression (string (string_content) @import.module))
 (include_once_expression (string (string_content) @import.module))
 (require_expression (_ (string (string_content) @import.module)))
 (require_once_expression (_ (string (string_content) @import.module)))
 (include_expression (_ (string (string_content) @import.module)))
 (include_once_expression (_ (string (string_content) @import.module)))] @import
