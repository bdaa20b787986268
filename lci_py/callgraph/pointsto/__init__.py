"""Points-to analysis: follows functions and objects as values through the whole program.

Terms (docs/architecture.md#terms): a *node* is a variable, parameter or result; its *values* are functions, objects,
classes and modules; *constraints* pass values on; a *site* is a call; a *hook* is a method that a library calls.
"""
