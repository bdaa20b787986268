"""A query as text, as a plan, as weights and rewrites. Pure functions."""
