"""Walks a repository and extracts symbols, calls, imports and chunks from its files."""
