"""The files of an unpacked package that the model may learn from, extracted as the index does."""

from __future__ import annotations

import fnmatch
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lci_py.source.extract.extract import extract
from lci_py.source.repository.content import content_reason
from lci_py.source.repository.ignore_rules import IgnoreRules
from lci_py.source.repository.walk import WalkOptions, walk
from lci_py.source.syntax.languages import HEAD_BYTES, TEXT, detect
from lci_py.training import licences
from lci_py.training.corpus import Package, debian_rules
from lci_py.types.record import dataclass
from lci_py.types.source import Extract

#: Copies of other packages, and files that nobody wrote by hand.
_VENDORED = IgnoreRules(
    "vendor/ vendored/ _vendor/ third_party/ third-party/ thirdparty/ 3rdparty/ extern/ external/ externals/ deps/ "
    "node_modules/ bower_components/ debian/ Godeps/ subprojects/ testdata/ test-data/ __snapshots__/ *.min.js "
    "*.bundle.js *.umd.js *.production.js *.d.cts *.d.mts".split()
)
_MAX_FILE = 400_000  # bytes
_MAX_PACKAGE = 8_000_000  # bytes of source read from one package, in a random order of its files
#: Languages with few packages: of each package four times as much is read.
THIN = frozenset({"bash", "csharp", "elixir", "haskell", "kotlin", "lua", "scala", "swift", "zig"})
_LICENCE_FILE = re.compile(r"(?:^|/)(?:LICEN[SC]E|COPYING|NOTICE)[^/]*$", re.I)


@dataclass(frozen=True, slots=True)
class Text:
    path: str  # relative to the package
    data: bytes
    extract: Extract


def texts(folder: Path, package: Package, *, limit: int = _MAX_PACKAGE) -> Iterator[Text]:
    """Code and Markdown of a package, in a random but reproducible order, without what may not be learned from."""
    rules = debian_rules(folder) if package.registry == "debian" else None
    globs = [re.compile(fnmatch.translate(glob)) for glob in package.leave_out]
    found = walk(folder, WalkOptions(max_file_bytes=_MAX_FILE)).files
    entries = sorted(found, key=lambda entry: entry.path)
    random.Random(package.key).shuffle(entries)
    used = 0
    for entry in entries:
        if left_out(entry.path, globs) or (rules and not licences.debian_licence(rules, entry.path)):
            continue
        try:
            data = (folder / entry.path).read_bytes()
        except OSError:
            continue
        language = detect(entry.path, data[:HEAD_BYTES])
        if used > limit * (4 if language in THIN else 1):
            continue
        if language == TEXT or licences.foreign(data) or content_reason(entry.path, data):
            continue
        try:
            yield Text(entry.path, data, extract(entry.path, data, language))
        except RecursionError:
            continue
        used += len(data)


def left_out(path: str, leave_out: Sequence[re.Pattern[str]] = ()) -> bool:
    """Whether a path is a licence, belongs to a copy of another package, or matches a pattern of `leave_out`."""
    if _LICENCE_FILE.search(path) or any(pattern.match(path) for pattern in leave_out):
        return True
    names = path.split("/")
    return any(
        _VENDORED.match(names[depth - 1], "/".join(names[:depth]), depth < len(names))
        for depth in range(1, len(names) + 1)
    )
