"""Finds callers, callees, call trees, references and definitions of a name.

Terms (docs/architecture.md#terms): a *node* is a symbol, a file or an anonymous function; a *row* is a definition as
stored; a call of a *declared* method, that of a base, may by *dispatch* run any implementation.
"""
