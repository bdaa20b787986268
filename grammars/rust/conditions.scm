([(attribute_item) (inner_attribute_item)] @condition
  (#match? @condition "^#!?\\[\\s*(cfg\\s*\\(|path\\b|cfg_attr\\b[\\s\\S]*\\bpath\\b)"))

; Files that are modules, and macros that put items under a condition: other files depend on these.
(mod_item !body) @condition
(macro_definition) @condition

; Calls of macros among items. What is in them has no tree.
(source_file [(macro_invocation) @condition (expression_statement (macro_invocation) @condition)])
(declaration_list [(macro_invocation) @condition (expression_statement (macro_invocation) @condition)])
