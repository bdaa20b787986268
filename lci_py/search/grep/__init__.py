"""Finds lines that match a pattern, in the indexed files."""
