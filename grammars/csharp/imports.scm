(using_directive !name (_) @import.module) @import
(using_directive name: (_) @import.alias [
  (_ !qualifier) @import.module
  (_ qualifier: (_) @import.module name: [(identifier) @import.name (_ . (identifier) @import.name)])] .) @import
