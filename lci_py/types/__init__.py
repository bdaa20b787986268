"""Classes of the values that the parts of the program pass to each other. The values are frozen and without behaviour.

Each command has a module of its own, so that a search need not import the others. Most classes are named tuples: to
define a dataclass takes half a millisecond.
"""
