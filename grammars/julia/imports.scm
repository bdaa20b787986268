(using_statement (identifier) @import.module @import.all) @import
(using_statement (import_path) @import.module @import.all) @import
(import_statement [(identifier) (import_path)] @import.module) @import
([(import_statement (import_alias . [(identifier) (import_path)] @import.module (identifier) @import.alias .))
  (using_statement (import_alias . [(identifier) (import_path)] @import.module (identifier) @import.alias .))] @import)
(_ (selected_import . [(identifier) (import_path)] @import.module [(identifier) (operator) (macro_identifier)] @import.name)) @import
(_ (selected_import . [(identifier) (import_path)] @import.module (import_alias . (identifier) @import.name (identifier) @import.alias))) @import
((call_expression . (identifier) @_include (argument_list . (string_literal (content) @import.module @import.all))) @import
  (#eq? @_include "include"))
