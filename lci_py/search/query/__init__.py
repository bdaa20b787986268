"""Parses a query and plans its ranking: text, plan, weights and rewrites. The functions are pure."""
