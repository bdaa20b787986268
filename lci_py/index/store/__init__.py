"""The index folder: manifest, commit, locks, seal, cache, log of searches.

Terms (docs/architecture.md#terms): a *generation* is one state of the index; to *publish* it is to write its
*manifest*, which names its shards; a *seal* shows that this user made the index; *global* shards belong to no segment.
"""
