"""The three views of a query: dense, bm25, symbolic."""
