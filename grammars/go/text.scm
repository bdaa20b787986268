; What holds no identifiers.
[(comment) (interpreted_string_literal) (raw_string_literal) (rune_literal)] @text
(ERROR) @unsure
