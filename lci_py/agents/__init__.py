"""The files that tell coding agents about lci, and how lci is added to them and removed again."""
