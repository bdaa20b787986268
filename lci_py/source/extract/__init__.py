"""Extracts symbols, calls, imports and chunks from the syntax tree of one file.

Terms (docs/architecture.md#terms): a *capture* is a syntax node that a query found; an *entity* encloses others; a
*type hint* says what type a name has; a *slot* can hold a function; *marks* say where identifiers are.
"""
