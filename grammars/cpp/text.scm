; What holds no identifiers. A macro's text is not parsed: it is a name if it is nothing else.
[(comment) (string_literal) (raw_string_literal) (char_literal) (system_lib_string) (preproc_directive)] @text
(preproc_arg) @leaf
(ERROR) @unsure
