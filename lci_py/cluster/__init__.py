"""One search over many parts, each with an index of its own: the same answer as from one index (docs/cluster.md)."""
