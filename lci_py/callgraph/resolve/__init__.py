"""Edges by names and declared types."""
