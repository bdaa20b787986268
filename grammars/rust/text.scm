; What holds no identifiers.
[(line_comment) (block_comment) (string_literal) (raw_string_literal) (char_literal) (metavariable)
  (fragment_specifier) (shebang)] @text
(ERROR) @unsure
