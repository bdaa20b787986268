"""One run of `lci index`, which makes a new generation of the index from the working tree.

Terms (docs/architecture.md#terms): a *record* is what was extracted from one file; a *segment* is some files with their
shards; a *staged* build extracts first what a search needs; *staging* is the folder of new shards.
"""
