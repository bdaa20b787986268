"""Points-to analysis: follows functions and objects as values through the whole program."""
