; What holds no identifiers, besides the comments in definitions.scm.
[(interpreted_string_literal) (raw_string_literal) (rune_literal)] @text
(ERROR) @unsure
