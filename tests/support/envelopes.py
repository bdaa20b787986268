"""An answer as the JSON of `lci search`, with all that flags can add."""

from __future__ import annotations

from typing import Any

from lci_py.render.json.answer import search as parts
from lci_py.types.search import Answer


def full_name(found: dict[str, Any]) -> str | None:
    """The qualified name of a result, which stands there only if it is another than the symbol; None for neither."""
    return found.get("qualified_name", found.get("symbol"))


def envelope(answer: Answer, *, doc: bool = False, linked: bool = True, explain: bool = True) -> dict[str, Any]:
    return parts(answer, doc=doc, linked=linked, explain=explain).whole()
