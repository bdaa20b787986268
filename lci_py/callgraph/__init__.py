"""Call sites to edges: names, types, imports, and functions as values. Reads and writes no index."""
