((use_statement module: (package) @import.module @import.all) @import (#match? @import.module "^[A-Z]"))
(require_expression (bareword) @import.module @import.all) @import
