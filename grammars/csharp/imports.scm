(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @import.module) @import
(using_directive name: (identifier) @import.alias [(identifier) (alias_qualified_name)] @import.module .) @import
(using_directive name: (identifier) @import.alias (qualified_name name: (identifier)) @import.module .) @import
(using_directive name: (identifier) @import.alias
  (qualified_name qualifier: (_) @import.module name: (generic_name . (identifier) @import.name)) .) @import
