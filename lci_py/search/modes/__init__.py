"""The four modes: dense, bm25, symbolic (structural), multiview.

Terms (docs/architecture.md#terms): a *view* ranks units by one kind of evidence; a *candidate* is a unit that may
become a result; the *envelope* is what surrounds the results; its entry *degraded* names views that failed.
"""
