; A head in each branch of an #if, and one body after it: to the grammar, declarations without a semicolon.
((_ (declaration declarator: [
    (_ declarator: (identifier) @name parameters: (_))
    (_ !parameters (_ declarator: (identifier) @name parameters: (_)))] (MISSING ";")) @definition.function)
  . (compound_statement))
((_ alternative: (preproc_else (declaration declarator: [
    (_ declarator: (identifier) @name parameters: (_))
    (_ !parameters (_ declarator: (identifier) @name parameters: (_)))] (MISSING ";")) @definition.function))
  . (compound_statement) @definition.function)
; The same where the last head has become a function with the #endif in it.
(_ (declaration declarator: [
    (_ declarator: (identifier) @name parameters: (_))
    (_ !parameters (_ declarator: (identifier) @name parameters: (_)))] (MISSING ";")) @definition.function
  . alternative: (preproc_else (function_definition (ERROR "#endif"))))
