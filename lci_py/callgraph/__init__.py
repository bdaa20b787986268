"""Resolves call sites to edges: by names and types, through imports, and by following functions as values."""
