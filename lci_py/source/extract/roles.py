"""Detects generated files by their names or text."""

from __future__ import annotations

import re

from lci_py.source.text.patterns import lazily

_HEAD_LINES, _HEAD_BYTES, _TAIL_BYTES = 20, 2048, 200
# Looser than `content_reason`, whose files are left out: these are searched, but ranked lower.
_MARK = lazily(rb"@generated\b|\bcode generated\b|\bdo not edit\b|\bauto-?generated\b|\bautomatically generated\b")
_COMMENT = lazily(rb"\s*(?://|/\*|\*|\(\*|<!--|--|;|%|'|#(?![a-z]))")
_NAME = lazily(
    r"_pb2(_grpc)?\.pyi?$|\.pb\.\w+$|\.(g|gr|freezed|mocks)\.dart$|\.min\.\w+$|\.(g|designer|generated)\.(cs|vb)$"
    r"|^zz_generated|[._-]generated?\.\w+$|[._-]gen\.(go|tsx?|jsx?|dart|cs)$|^(moc|qrc)_.*\.cpp$|\.tab\.[ch]$|^lex\.yy\.",
    re.IGNORECASE,
)
_FOLDER = lazily(r"(^|/)(__generated__|generated)/", re.IGNORECASE)


def is_generated_name(path: str) -> bool:
    """Whether a path looks like the path of a generated file."""
    return bool(_NAME.search(path.rpartition("/")[2]) or _FOLDER.search(path))


def has_mark(source: bytes) -> bool:
    """Whether a comment in the first lines marks the file as generated, or its last line names a source map."""
    if b"# sourceMappingURL=" in source[-_TAIL_BYTES:]:
        return True
    head = source[:_HEAD_BYTES].lower()
    if b"generated" not in head and b"do not edit" not in head:
        return False
    return any(_MARK.search(line) and _COMMENT.match(line) for line in head.split(b"\n")[:_HEAD_LINES])
