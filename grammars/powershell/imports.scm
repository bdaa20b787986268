((command command_name: (command_name) @_import (command_elements . (command_argument_sep) . (generic_token) @import.module @import.all)) @import
  (#match? @_import "^(?:[Ii]mport-[Mm]odule|ipmo)$"))
((command command_name: (command_name) @_using (command_elements . (command_argument_sep) . (generic_token) @_module . (command_argument_sep) . (generic_token) @import.module @import.all)) @import
  (#match? @_using "^using$") (#match? @_module "^module$"))
