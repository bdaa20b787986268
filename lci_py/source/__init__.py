"""Walk a repository and turn its files into symbols, calls, imports and chunks."""
