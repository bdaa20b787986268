(import (qualified_identifier) @import.module "*" @import.name) @import
; The name is the module's last part; the extractor cuts it off the module.
((import (qualified_identifier (identifier) @import.name .) @import.module (identifier)? @import.alias)
  @import (#not-match? @import "\\*$"))
