"""A question to one answer that suffices: what belongs to it, and what of that a budget has room for."""
