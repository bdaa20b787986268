((command name: (_ (word) @_source) . argument: (_) @import.module) @import
  (#any-of? @_source "source" "." "load" "bats_load_library"))
