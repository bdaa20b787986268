"""Finds callers, callees, call trees, references and definitions of a name."""
