"""Frozen values without behaviour, which the parts of the program exchange."""
