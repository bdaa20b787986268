(import_declaration (scoped_identifier scope: (_) @import.module name: (_) @import.name) . ";") @import
(import_declaration (identifier) @import.module . ";") @import
(import_declaration [(identifier) (scoped_identifier)] @import.module (asterisk) @import.name) @import
