"""Parsing with tree-sitter: grammars, query matches, and limits on what a file may cost."""
