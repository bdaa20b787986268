"""The shards (the files of an index): one writer and one reader for each kind.

All code that reads a shard raises `DamagedIndexError` if the shard is damaged or does not fit the others; docstrings
do not repeat this.
"""
