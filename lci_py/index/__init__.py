"""The index: build it, store it safely, read its shards."""
