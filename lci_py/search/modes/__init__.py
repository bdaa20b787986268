"""The four modes: dense, bm25, symbolic (structural), multiview."""
