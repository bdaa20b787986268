(extern_crate_declaration name: (identifier) @import.module !alias) @import
(extern_crate_declaration name: (identifier) @import.module alias: (identifier) @import.alias) @import

; Four levels of lists: `use a::{b, c::{d as e, f::{g, h}}};`. The paths around a name are its module, in this order.
(use_declaration argument: [
  (identifier) @import.module @import
  (scoped_identifier path: (_) @import.module name: (identifier) @import.name) @import
  (use_as_clause path: (identifier) @import.module alias: (identifier) @import.alias) @import
  (use_as_clause path: (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
    alias: (identifier) @import.alias) @import
  (use_wildcard (_) @import.module "*" @import.name) @import
])
(use_declaration argument: (use_list [
  (identifier) @import.module @import
  (scoped_identifier path: (_) @import.module name: (identifier) @import.name) @import
  (use_wildcard (_) @import.module "*" @import.name) @import
]))
(use_declaration argument: (scoped_use_list path: (_) @import.module list: (use_list [
  (identifier) @import.name @import
  (self) @import
  (scoped_identifier path: (_) @import.module name: (identifier) @import.name) @import
  (use_as_clause path: (identifier) @import.name alias: (identifier) @import.alias) @import
  (use_as_clause path: (self) alias: (identifier) @import.alias) @import
  (use_as_clause path: (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
    alias: (identifier) @import.alias) @import
  (use_wildcard . "*" @import.name) @import
  (use_wildcard (_) @import.module "*" @import.name) @import
])))
(use_declaration argument: (scoped_use_list path: (_) @import.module list: (use_list
  (scoped_use_list path: (_) @import.module list: (use_list [
    (identifier) @import.name @import
    (self) @import
    (scoped_identifier path: (_) @import.module name: (identifier) @import.name) @import
    (use_as_clause path: (identifier) @import.name alias: (identifier) @import.alias) @import
    (use_wildcard . "*" @import.name) @import
    (use_wildcard (_) @import.module "*" @import.name) @import
  ])))))
(use_declaration argument: (scoped_use_list path: (_) @import.module list: (use_list
  (scoped_use_list path: (_) @import.module list: (use_list
    (scoped_use_list path: (_) @import.module list: (use_list [
      (identifier) @import.name @import
      (scoped_identifier path: (_) @import.module name: (identifier) @import.name) @import
    ])))))))

; In the arguments of a macro (`cfg_rt! { pub use a::b; }`) there are tokens only: the text after `use` is read.
(token_tree "use" @import)
