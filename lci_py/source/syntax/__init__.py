"""Parses files with tree-sitter: grammars, query matches, and limits on the cost of one file."""
