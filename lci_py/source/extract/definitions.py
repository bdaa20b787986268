"""The definitions of a file without the rest: what another branch is compared by."""

from __future__ import annotations

from lci_py.source import conditions
from lci_py.source.dataflow.lower import Anonymous, lower
from lci_py.source.extract.extract import _imports, _symbols, _valid, _with_tables
from lci_py.source.extract.traits import own_digests
from lci_py.source.syntax.captures import Captured
from lci_py.source.syntax.languages import TEXT, is_deep, load_languages
from lci_py.source.syntax.limits import DEFAULTS, Limits
from lci_py.types.source import Extract


def definitions(
    path: str, source: bytes, language: str, limits: Limits = DEFAULTS, flags: tuple[str, ...] = ()
) -> Extract:
    """The symbols that `extract` finds, and the same `limit` but for chunks; nothing else. Arguments as there.

    Raises:
        OutOfTime: The parser took too long.
    """
    if language == TEXT:
        return Extract(TEXT, "")
    spec = load_languages()[language]
    tree = spec.parse(_valid(source), limits)
    captured = Captured(spec.matches(tree.root_node, limits), source)
    tags = conditions.Tags(spec.conditions, language, conditions.File(path, source, captured.conditions, flags))
    symbols, _, limit = _symbols(spec, captured, tags, limits.max_file_symbols)
    if not limit and is_deep(tree, limits.max_nesting):
        limit = "too_deep"
    # What lies in an anonymous function is local; Python's hold no definitions.
    flow = lower(language, tree.root_node, captured, tuple(_imports(captured))) if language != "python" else None
    symbols = own_digests(captured, symbols, Anonymous(flow.spans) if flow is not None and flow.spans else None)
    return Extract(language, "", symbols=tuple(_with_tables(symbols) if spec.tables else symbols), limit=limit)
