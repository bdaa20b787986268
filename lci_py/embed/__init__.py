"""Embeds text, with the built-in model or another model.

Terms (docs/architecture.md#terms): a *bag* is a text's distinct tokens, which are pieces of words, with their counts;
*late* interaction compares the single tokens of a question with those of a chunk.
"""
