(preproc_include path: [(string_literal) (system_lib_string) (identifier)] @import.module) @import
(using_declaration "namespace" [(identifier) (qualified_identifier)] @import.module) @import
(using_declaration . "using" . [(identifier) (qualified_identifier)] @import.module) @import
(namespace_alias_definition name: (_) @import.alias [(nested_namespace_specifier) (namespace_identifier)] @import.module) @import
