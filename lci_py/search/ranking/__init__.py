"""Computes the signals of candidates, and merges them into one ranking."""
