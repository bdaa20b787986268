"""One search over many parts, each with its own index. The answer is the same as from one index (docs/cluster.md)."""
