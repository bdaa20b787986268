((call target: (identifier) @import.all . (_ . (alias) @import.module)) @import
  (#any-of? @import.all "import" "use"))
; alias A.B, as: C; alias A.{B, C}
((call target: (identifier) @_import
  . (_ . [(alias) @import.module (_ left: (_) @import.module right: (tuple (alias) @import.name))]
       . (_ (pair value: (alias) @import.alias))?)) @import
  (#any-of? @_import "alias" "require"))
