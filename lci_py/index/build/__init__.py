"""One run of `lci index`, which makes a new generation of the index from the working tree."""
