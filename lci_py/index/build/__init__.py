"""One run of `lci index`: from a tree to a generation."""
