; What holds no identifiers, besides the comments in definitions.scm. Between the pieces of an f-string there are some.
(string_content) @text
[(format_specifier) (ERROR)] @unsure
