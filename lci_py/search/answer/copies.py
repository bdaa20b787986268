"""Copies in a workspace: a result in a file that exists several times is shown once, and names the other places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lci_py.types.record import replace
from lci_py.types.search import Degradation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Result


class Copies:
    """The files of an index that have the same content."""

    def __init__(self, sha: Callable[[str], str], with_content: Callable[[str], Sequence[str]]) -> None:
        """Args:
        sha: Returns the digest of a file by its path; "" if no other file can have the same content.
        with_content: Returns the files with a content, by digest.
        """
        self._sha, self._with_content = sha, with_content
        self._paths: dict[str, Sequence[str]] = {}

    def folded(self, results: Sequence[Result]) -> list[Result]:
        """The results without copies of earlier ones; each names the copies of its own file.

        A file that has changed since it was indexed is no copy of another.
        """
        kept: dict[object, Result] = {}
        for result in results:
            sha = self._sha(result.file)
            others = (
                () if result.stale else tuple(path for path in self._paths_with_content(sha) if path != result.file)
            )
            key = (sha, result.line, result.end_line, result.symbol) if others else result.id
            if key not in kept:
                kept[key] = replace(result, also_in=others) if others else result
        return list(kept.values())

    def _paths_with_content(self, sha: str) -> Sequence[str]:
        if sha not in self._paths:
            self._paths[sha] = self._with_content(sha) if sha else ()
        return self._paths[sha]


class Folding(NamedTuple):
    """Removes copies from the answers in a workspace."""

    copies: Copies
    missing: dict[str, tuple[str, str]]  # repositories that cannot be read: folder and reason

    def folded(self, limit: int, ask: Callable[[int], Answer]) -> Answer:
        """The first `limit` distinct results, and what is missing.

        `total` is their number if there are no more. Otherwise it counts every place, copies included: how many of the
        further ones are copies is not checked.

        Args:
            ask: Returns the answer with so many results; a shorter answer is the head of a longer one.
        """
        asked = limit + 1  # one more shows whether there are more, since all others may be copies
        while True:
            answer = ask(asked)
            results = self.copies.folded(answer.results)
            if len(results) > limit or not answer.has_more:
                break
            asked *= 2
        total = answer.total if answer.has_more else len(results)
        shown, more, degraded = tuple(results[:limit]), len(results) > limit, (*answer.degraded, *self.degraded())
        return replace(answer, results=shown, total=total, has_more=more, degraded=degraded)

    def degraded(self) -> list[Degradation]:
        """The repositories that are missing from an answer."""
        from lci_py.source.repository.workspace import WHY

        return [
            Degradation(f"repository {name}", "missing", "the other repositories", "high", f"{folder}: {WHY[why]}")
            for name, (folder, why) in self.missing.items()
        ]


def folding(snapshot: Snapshot) -> Folding | None:
    """The display rules for copies in a workspace; None for any other root."""
    from lci_py.source.repository.workspace import is_workspace, missing

    if not is_workspace(snapshot.root):
        return None
    return Folding(Copies(snapshot.freshness.sha, snapshot.files.with_content), missing(snapshot.root))
