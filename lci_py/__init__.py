"""lci-py: local code search over dense, lexical, symbolic and graph indexes.

docs/architecture.md#terms explains the terms that docstrings assume.
"""

__version__ = "0.1.0"
