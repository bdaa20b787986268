"""The shards: one writer and one reader each.

Everything that reads a shard raises `DamagedIndexError` if the shard is damaged or does not fit the others; docstrings
do not repeat this.
"""
