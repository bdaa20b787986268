(preproc_include path: [(string_literal) (system_lib_string) (identifier)] @import.module) @import
; using namespace a::b; using a::b::C;
(using_declaration [(identifier) (qualified_identifier)] @import.module) @import
(namespace_alias_definition name: (_) @import.alias [(nested_namespace_specifier) (namespace_identifier)] @import.module) @import
