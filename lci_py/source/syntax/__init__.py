"""tree-sitter: grammars, queries, limits."""
