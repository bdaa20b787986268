"""Answers a question with the definitions that belong to it, within a token budget."""
