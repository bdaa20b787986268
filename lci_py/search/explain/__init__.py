"""Explains the parts of a score, and why a file is or is not among the results."""
