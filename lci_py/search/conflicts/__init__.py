"""Finds symbols that have several contradicting definitions, and statements that disagree.

Terms (docs/architecture.md#terms): a *site* is one of a symbol's definitions; its *relation* says how it contradicts
the others; a *condition* says in which builds it exists; a *claim* is a value that the source states.
"""
