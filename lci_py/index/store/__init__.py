"""The index folder: manifest, commit, locks, seal, cache, log of searches."""
