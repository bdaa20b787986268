"""One file to symbols, calls, imports and chunks."""
