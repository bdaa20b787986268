(import module: (_) @import.module alias: (_)? @import.alias !names) @import
((import module: (_) @import.module alias: (_)? @import.alias names: (_ name: (_ . (_) @import.name))) @import
  (#not-match? @import "\\shiding\\b"))
((import module: (_) @import.module alias: (_)? @import.alias names: (_)) @import (#match? @import "\\shiding\\b"))
