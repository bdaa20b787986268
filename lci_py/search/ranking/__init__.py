"""Computes the signals of candidates, and merges them into one ranking.

Terms (docs/architecture.md#terms): a *signal* adds to a score, and a *factor* multiplies it; the *head* is the first
hits; the best results, *seeds*, *lift* their neighbours; a query *spells out* the names and texts in it.
"""
