"""Configuration files: the values that a template gives (`.env.example`), and what comments say of defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.stated_values.documents import statements, value_of
from lci_py.source.stated_values.file_roles import is_template
from lci_py.source.text.patterns import lazily
from lci_py.types.source import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A larger file is data.
_MAX_BYTES = 200_000
_ASSIGNED = lazily(
    r"(?P<off>[#;]\s?)?(?:export\s+)?(?P<name>[A-Za-z_][\w-]{2,99})\s*[=:]\s*(?!//)(?P<value>\S.{0,150})$"
)
_COMMENT = lazily(rb"(?m)^[ \t]*(?:[#;]+[ \t]?(.*)|.*)$")


def settings(path: str, source: bytes) -> Iterator[Claim]:
    """The values in a template of a configuration, also those that are commented out, and the defaults in comments."""
    if len(source) > _MAX_BYTES:
        return
    yield from statements(_COMMENT.sub(lambda found: found[1] or b"", source))
    if is_template(path):
        for number, line in enumerate(source.decode("utf-8", "replace").split("\n"), 1):
            found = _ASSIGNED.match(line.rstrip())
            if found is not None and (form := value_of(found["value"])):
                yield Claim(-1, found["name"], form, number, "commented" if found["off"] else "config")
