"""Resolves call sites to edges: by names and types, through imports, and by following functions as values.

Terms (docs/architecture.md#terms): to *link* a file is to find the edges of its calls; a *look-up* is a question about
other files, whose *key* is kept; a *step* is the rule that found an edge; a *place* is a symbol's index in its file.
"""
