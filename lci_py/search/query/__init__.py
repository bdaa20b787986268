"""Parses a query and plans its ranking: text, plan, weights and rewrites. The functions are pure.

Terms (docs/architecture.md#terms): an *intent* is the purpose of a query and chooses the weights of *signals*; a *term*
is a stemmed word; a *rewrite* adds other forms of a word; a *long* question is an issue or a log.
"""
