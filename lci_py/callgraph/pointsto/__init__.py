"""Functions and objects as values, followed through the whole program (points-to analysis)."""
