(import_or_export (_ (import_specification (configurable_uri) @import.module (combinator "show" (identifier) @import.name)))) @import
(import_or_export (_ (import_specification (configurable_uri) @import.module "as" . (identifier) @import.alias))) @import
(import_or_export (_ (import_specification (configurable_uri) @import.module .) @import.all)) @import
(import_or_export (_ (import_specification (configurable_uri) @import.module . (combinator . "hide")) @import.all)) @import
(import_or_export (library_export (configurable_uri) @import.module) @import.all) @import
(part_directive (uri) @import.module @import.all) @import
(part_of_directive (uri) @import.module @import.all) @import
