"""The shards (the files of an index): one writer and one reader for each kind.

All code that reads a shard raises `DamagedIndexError` if the shard is damaged or does not fit the others; docstrings
do not repeat this.

Terms (docs/architecture.md#terms): a *row* is a file, symbol, unit or chunk, and *dead* if its file has changed since;
*public numbers* count the living rows of all segments, and *slots* all rows.
"""
