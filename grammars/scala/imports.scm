; The module is the text from the first to the last @import.module, without the name if that is its last part.
((import_declaration . (identifier) @import.module (identifier) @import.module @import.name .) @import
  (#not-match? @import ","))
(import_declaration . (identifier) @import.module .) @import
(import_declaration . (identifier) @import.module (identifier) @import.module . [
  (namespace_wildcard) @import.all
  (as_renamed_identifier name: (_) @import.name alias: (_) @import.alias)
  (namespace_selectors [
    (identifier) @import.name
    (namespace_wildcard) @import.all
    (arrow_renamed_identifier name: (_) @import.name alias: (_) @import.alias)
    (as_renamed_identifier name: (_) @import.name alias: (_) @import.alias)
  ])
]) @import
(import_declaration . (identifier) @import.module . [
  (namespace_wildcard) @import.all
  (as_renamed_identifier name: (_) @import.name alias: (_) @import.alias)
  (namespace_selectors [
    (identifier) @import.name
    (namespace_wildcard) @import.all
    (arrow_renamed_identifier name: (_) @import.name alias: (_) @import.alias)
    (as_renamed_identifier name: (_) @import.name alias: (_) @import.alias)
  ])
]) @import
