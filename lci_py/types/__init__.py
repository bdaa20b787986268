"""The values that the parts of the program exchange: frozen, without behaviour.

Each command has a module of its own, so that a search need not import the others, and mostly named tuples: to define a
dataclass takes half a millisecond.
"""
