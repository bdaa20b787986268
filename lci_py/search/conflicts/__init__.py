"""Several definitions of one symbol, and statements that disagree."""
