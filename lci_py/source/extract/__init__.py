"""One file to symbols, calls, imports and chunks, by its syntax tree."""
