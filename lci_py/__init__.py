"""lci-py: local code search over dense, lexical, symbolic and graph indexes."""

__version__ = "0.1.0"
