"""Folds copies in a workspace: a result in a file that exists several times is shown once, with the other paths."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lci_py.types.record import replace
from lci_py.types.search import Degradation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Result


class Folding:
    """Removes copies (results in files with the same content) from the answers in a workspace."""

    def __init__(
        self,
        sha: Callable[[str], str],
        with_content: Callable[[str], Sequence[str]],
        missing: Mapping[str, tuple[str, str]],
    ) -> None:
        """Takes the look-ups that find copies, and the repositories that cannot be read.

        Args:
            sha: Returns the digest of a file by its path; "" if no other file can have the same content.
            with_content: Returns the files that have a content, by its digest.
            missing: Maps the name of each repository that cannot be read to (folder, reason).
        """
        self._sha, self._with_content, self._missing = sha, cache(with_content), missing

    def folded(self, limit: int, ask: Callable[[int], Answer]) -> Answer:
        """The answer with the first `limit` distinct results, and the repositories that are missing.

        If there are no more results, `total` is the number of distinct results. Otherwise it includes copies, since the
        results beyond the limit are not checked.

        Args:
            ask: Returns the answer with a given number of results; a shorter answer is the head of a longer answer.
        """
        count = limit + 1  # one more shows whether there are more, since all others may be copies
        while True:
            answer = ask(count)
            results = self._without_copies(answer.results)
            if len(results) > limit or not answer.has_more:
                break
            count *= 2
        total = answer.total if answer.has_more else len(results)
        page, more, degraded = tuple(results[:limit]), len(results) > limit, (*answer.degraded, *self.degraded())
        return replace(answer, results=page, total=total, has_more=more, degraded=degraded)

    def _without_copies(self, results: Sequence[Result]) -> list[Result]:
        """The results without copies of earlier results; each result names the other files with its content.

        A file that has changed since it was indexed does not count as a copy.
        """
        distinct: dict[object, Result] = {}
        for result in results:
            sha = "" if result.stale else self._sha(result.file)
            others = tuple(path for path in self._with_content(sha) if path != result.file) if sha else ()
            key = (sha, result.line, result.end_line, result.symbol) if others else result.id
            if key not in distinct:
                distinct[key] = replace(result, also_in=others) if others else result
        return list(distinct.values())

    def degraded(self) -> list[Degradation]:
        """The entries of `degraded` for the repositories that are missing from an answer."""
        from lci_py.source.repository.workspace import WHY

        return [
            Degradation(f"repository {name}", "missing", "the other repositories", "high", f"{folder}: {WHY[why]}")
            for name, (folder, why) in self._missing.items()
        ]


def folding(snapshot: Snapshot) -> Folding | None:
    """The `Folding` for a workspace, which removes copies from answers; None if the root is no workspace."""
    from lci_py.source.repository.workspace import is_workspace, missing

    if not is_workspace(snapshot.root):
        return None
    return Folding(snapshot.freshness.sha, snapshot.files.with_content, missing(snapshot.root))
