(_ "open" @import.all module: [(module_path) (extended_module_path)] @import.module) @import
(include_module "include" @import.all module: (module_path) @import.module) @import
; module L = A.B, module L = B
(module_binding . (module_name) @import.alias . "=" . body: (module_path . (module_name) @import.module .)) @import
(module_binding . (module_name) @import.alias . "="
  . body: (module_path (module_path) @import.module (module_name) @import.name)) @import
