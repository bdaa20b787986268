; What holds no identifiers, besides the comments in definitions.scm. A macro's text is not parsed: it is a name if it is nothing else.
[(string_literal) (char_literal) (system_lib_string) (preproc_directive)] @text
(preproc_arg) @leaf
(ERROR) @unsure
