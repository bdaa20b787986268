"""Embeds text, with the built-in model or another model."""
