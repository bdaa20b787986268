"""Resolves calls, imports and base classes by names and declared types."""
