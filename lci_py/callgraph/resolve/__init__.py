"""Resolves calls, imports and base classes by names and declared types.

Terms (docs/architecture.md#terms): a *value* is what an expression may be: an object, a type, a function, a module; a
*target* is a definition that a call means; a *slot* is a variable, field or parameter that may hold a function.
"""
