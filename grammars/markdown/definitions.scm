(section . (atx_heading heading_content: (_) @name)) @definition.section
; A heading underlined with = or - opens no section in the grammar: its range is what follows up to the next heading;
; a title on top holds the section that it is in.
(section . (setext_heading heading_content: (_) @name (setext_h1_underline))) @definition.section
((setext_heading heading_content: (_) @name) @definition.section . [
  (paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (pipe_table) (html_block)
  (thematic_break) (link_reference_definition)
]* @definition.section)
