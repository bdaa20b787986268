"""Extracts symbols, calls, imports and chunks from the syntax tree of one file."""
