((path_expression) @import.module @import.all @import (#match? @import.module "\\.nix$|/[^.]*$"))
