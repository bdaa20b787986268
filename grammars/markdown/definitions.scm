(section . (atx_heading heading_content: (_) @name)) @definition.section
; A heading underlined with = or - opens no section in the grammar. A title on top holds the section that it is in;
; any other holds the next six blocks (not *: that takes quadratic time).
(section . (setext_heading heading_content: (_) @name (setext_h1_underline))) @definition.section
((setext_heading heading_content: (_) @name) @definition.section
  . [(paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (pipe_table) (html_block)]? @definition.section
  . [(paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (pipe_table) (html_block)]? @definition.section
  . [(paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (pipe_table) (html_block)]? @definition.section
  . [(paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (pipe_table) (html_block)]? @definition.section
  . [(paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (pipe_table) (html_block)]? @definition.section
  . [(paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (pipe_table) (html_block)]? @definition.section)
