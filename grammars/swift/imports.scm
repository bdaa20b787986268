((import_declaration (identifier) @import.module) @import
  (#not-match? @import "import +(struct|class|enum|protocol|typealias|func|let|var) "))
; import struct Foundation.Date
(import_declaration ["struct" "class" "enum" "protocol" "typealias" "func" "let" "var"]
  (identifier (simple_identifier) @import.name .) @import.module) @import
