"""Signals of candidates, and their merging into one ranking."""
