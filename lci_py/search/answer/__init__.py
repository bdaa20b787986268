"""Turns ranked units into the results of an answer."""
