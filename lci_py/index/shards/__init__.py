"""The shards: one writer and one reader each.

Whatever reads a shard raises `DamagedIndexError` if it is not what was written, or does not fit the other shards;
docstrings do not repeat this.
"""
