"""The index folder: manifest, commit, locks, seal, cache, search log."""
