"""Answers a question with the definitions that belong to it, within a token budget.

Terms (docs/architecture.md#terms): a *piece* is a definition that the answer shows; its *worth* is the probability that
the answer needs it; an *excerpt* is its best lines, and its *place* the location alone.
"""
