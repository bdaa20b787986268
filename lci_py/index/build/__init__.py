"""One run of `lci index`: from the working tree to a new generation."""
