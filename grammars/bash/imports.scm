((command name: (_ (word) @import.all) . argument: (_) @import.module) @import
  (#any-of? @import.all "source" "." "load" "bats_load_library"))
