; What holds no identifiers, besides the comments in definitions.scm.
(line_comment inner: (_)) @text
(block_comment inner: (_)) @text
[(string_literal) (raw_string_literal) (char_literal) (metavariable)
  (fragment_specifier) (shebang)] @text
(ERROR) @unsure
