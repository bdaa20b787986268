"""Running totals of files and definitions for the manifest: new files are added, removed files subtracted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.index.shards.filters import SYMBOLS_OF, batches
from lci_py.index.shards.symbols import SqliteFile
from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from lci_py.source.file_record import FileRecord


def stored_files(shard: Path, numbers: Sequence[int]) -> list[tuple[int, str, str, str]]:
    """(number, path, digest, exceeded limit or "") of the files of a segment that have one of the `numbers`."""
    if not numbers:
        return []
    number_set = set(numbers)
    with closing(SqliteFile(shard)) as db:
        return [
            tuple(row)
            for row in db.execute("SELECT id, path, sha, limited FROM files ORDER BY id")
            if row[0] in number_set
        ]


@dataclass(slots=True)
class FileCounts:
    """Totals over the indexed files: by language, by kind of definition, and files with syntax errors."""

    languages: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)  # files with syntax errors, by language

    def add(self, record: FileRecord) -> None:
        extract = record.extract
        self.languages[extract.language] += 1
        self.kinds.update(symbol.kind for symbol in extract.symbols)
        self.errors[extract.language] += bool(extract.has_errors)

    def add_stored(self, shard: Path, files: Sequence[int], sign: int = 1) -> None:
        """Add the files with these numbers in a segment; subtract them if `sign` is -1."""
        if not files:
            return
        with closing(SqliteFile(shard)) as db:
            for some in batches(files):
                own = ",".join(map(str, some))
                where = f"WHERE id IN ({own})"
                for language, count, errors in db.execute(
                    f"SELECT language, count(*), sum(errors > 0) FROM files {where} GROUP BY language"
                ):
                    self.languages[language] += sign * count
                    self.errors[language] += sign * (errors or 0)
                for kind, count in db.execute(
                    f"SELECT s.kind, count(*) {SYMBOLS_OF} WHERE f.id IN ({own}) GROUP BY s.kind"
                ):
                    self.kinds[kind] += sign * count

    @classmethod
    def stored(cls, counts: dict[str, Any]) -> FileCounts:
        """Make the totals from the counts that a manifest stores."""
        return cls(
            Counter(counts["files_by_language"]),
            Counter(counts["symbols_by_kind"]),
            Counter(counts["errors_by_language"]),
        )


def largest_first(counter: Counter[str]) -> dict[str, int]:
    """A dict of the counts that are not zero, the largest first."""
    return dict(sorted(((name, n) for name, n in counter.items() if n), key=lambda item: (-item[1], item[0])))


def reasons(names: Iterable[str]) -> dict[str, int]:
    """Maps each name to the number of times it occurs, the most frequent first."""
    return largest_first(Counter(names))
