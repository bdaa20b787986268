"""One search over many parts, each with its own index. The answer is the same as from one index (docs/cluster.md).

Terms (docs/architecture.md#terms): a *fleet* is all parts; a *leaf* searches one part, and the *root* merges what the
leaves find; a *job* is work for any worker.
"""
