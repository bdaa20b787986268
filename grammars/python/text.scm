; What holds no identifiers. Between the pieces of an f-string there are some.
[(comment) (string_content)] @text
[(format_specifier) (ERROR)] @unsure
