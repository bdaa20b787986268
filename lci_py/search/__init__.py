"""Plan, retrieve, fuse and annotate."""
