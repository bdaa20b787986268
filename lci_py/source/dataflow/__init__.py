"""Lowers the functions and objects of one file to points-to constraints.

Terms (docs/architecture.md#terms): a *constraint* says that a *node* (a variable, parameter, result or other value) may
hold what another holds; a file's constraints are its *flow*; a *type hint* says what type a name has.
"""
