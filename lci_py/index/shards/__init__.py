"""The shards: one writer and one reader each."""
