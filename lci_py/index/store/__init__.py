"""The index folder: manifest, commit, locks, trust, cache, log."""
