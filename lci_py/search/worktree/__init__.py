"""The files as they are now: reading and freshness."""
