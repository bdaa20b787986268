"""Reads files as they are now, and compares them with the index."""
