"""Write and read the shards on disk."""
