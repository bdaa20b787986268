"""Parses files with tree-sitter: grammars, query matches, and limits on the cost of one file.

Terms (docs/architecture.md#terms): a *capture* is a syntax node that a query found; an *entity* is one that encloses
others; a *limit* bounds the cost of one file; *arity* is how many arguments a function takes.
"""
