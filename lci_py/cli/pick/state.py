"""The state of `lci pick`: a stack of lists, with selected and marked entries. It does not depend on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.pick import questions
from lci_py.cli.pick.preview import ColouredPreview, colour_preview
from lci_py.cli.pick.questions import ALL_MODES, WALKS, Entry, EntryList
from lci_py.errors import LciError
from lci_py.types.record import replace
from lci_py.types.search import BLOCK_KIND

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.app import Engine
    from lci_py.cli.pick.worker import Worker
    from lci_py.types.search import Filters


class View:
    """A list on the stack: the results of the search or, filtered by the typed text, of a walk from an entry."""

    def __init__(self, title: str = "", entries: EntryList = EntryList((), 0)) -> None:  # noqa: B008  # immutable
        self.title = title
        self.text = ""  # as typed, when the view was left
        self.source = entries
        self.entries: tuple[Entry, ...] = entries.entries
        self.selected = 0


class Picker:
    """The state of `lci pick`; its methods say what each key does."""

    def __init__(
        self, engine: Engine, worker: Worker, mode: str, filters: Filters, changed: Callable[[], object]
    ) -> None:
        """Prepare the state before anything is listed.

        Args:
            engine: Answers the queries, in the thread of `worker`.
            mode: The first search mode, one of `ALL_MODES`.
            filters: The filters of the command line.
            changed: Called when the screen must be drawn again.
        """
        self.mode, self.filters = mode, filters
        self.views = [View()]
        self.text = ""
        self.marks: dict[tuple[str, int], Entry] = {}
        self.message = ""
        self.preview: ColouredPreview | None = None
        self.scrolled = 0  # lines of the preview, by hand
        self._engine, self._worker, self._changed = engine, worker, changed
        self._previewed: tuple[object, ...] = ()

    @property
    def view(self) -> View:
        return self.views[-1]

    @property
    def selected(self) -> Entry | None:
        entries = self.view.entries
        return entries[self.view.selected] if entries else None

    def chosen(self) -> list[Entry]:
        """The marked entries or, if none is marked, the selected entry; each with its best matching line."""
        if self.marks:
            return list(self.marks.values())
        entry = self.selected
        return [] if entry is None else [self._at_match(entry)]

    def _at_match(self, entry: Entry) -> Entry:
        preview = self.preview
        return entry._replace(line=preview.text.match) if preview is not None and preview.entry == entry else entry

    def begin(self) -> None:
        """List entries before the user types anything, and load whatever the first query needs."""
        self.search()
        mode, filters = self.mode, self.filters
        self._worker.ask("warm", lambda: questions.search(self._engine, "any word", mode, filters), lambda _: None)

    # --- the text -----------------------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Take the typed text: search for it or, in a walk, filter the list by it."""
        self.text = text
        if len(self.views) == 1:
            self.search()
            return
        words, view = text.lower().split(), self.view
        view.entries = tuple(
            entry
            for entry in view.source.entries
            if all(word in f"{entry.name} {entry.file}".lower() for word in words)
        )
        self.select(0)

    def search(self) -> None:
        text, mode, filters = self.text, self.mode, self.filters
        self._worker.ask("search", lambda: questions.search(self._engine, text, mode, filters), self._searched)

    def _searched(self, result: EntryList | LciError) -> None:
        if isinstance(result, LciError):
            self._say(result)  # the list stays: a filter is not typed to its end yet
            return
        bottom = self.views[0]
        bottom.source, bottom.entries, bottom.selected = result, result.entries, 0
        self.message = ""
        self.select(self.view.selected)

    def _say(self, error: LciError) -> None:
        self.message = f"{error.message}: {error.hint}" if error.hint else error.message
        self._changed()

    # --- keys ---------------------------------------------------------------------------------------------------

    def switch(self, step: int) -> None:
        """Go `step` search modes forwards (backwards if negative), and search again."""
        self.mode = ALL_MODES[(ALL_MODES.index(self.mode) + step) % len(ALL_MODES)]
        self._search_again()

    def toggle_tests(self) -> None:
        self.filters = replace(self.filters, no_tests=not self.filters.no_tests)
        self._search_again()

    def _search_again(self) -> None:
        while len(self.views) > 1:
            self.back()
        self.search()
        self._changed()

    def select(self, index: int) -> None:
        """Select the entry at index `index`, or the nearest entry, and show its preview."""
        self.view.selected = max(0, min(index, len(self.view.entries) - 1))
        entry = self.selected
        words = questions.words_of(self.views[0].text if len(self.views) > 1 else self.text)
        # A definition is looked for by its name or by what it does; words may stand anywhere in it.
        at_words = len(self.views) == 1 and entry is not None and (self.mode == "bm25" or entry.kind == BLOCK_KIND)
        request = (entry, words, at_words)
        if request != self._previewed:
            self._previewed, self.scrolled = request, 0
            if entry is None:
                self.preview = None
            else:
                self._worker.ask(
                    "preview", lambda: colour_preview(self._engine, entry, words, at_words=at_words), self._show
                )
        self._changed()

    def _show(self, result: ColouredPreview | LciError) -> None:
        if isinstance(result, LciError):
            self._say(result)
        elif result.entry == self.selected:
            self.preview = result
            self._changed()

    def mark(self) -> None:
        """Mark or unmark the selected entry, and select the next entry."""
        entry = self.selected
        if entry is not None and self.marks.pop((entry.file, entry.line), None) is None:
            self.marks[entry.file, entry.line] = self._at_match(entry)
        self.select(self.view.selected + 1)

    def walk(self, way: str) -> None:
        """Show what a walk from the selected entry leads to, such as its callers; `way` is one of `WALKS`."""
        entry, text = self.selected, self.text
        if entry is not None:
            self.message = f"looking for {way}"
            self._worker.ask(
                "walk", lambda: WALKS[way](self._engine, entry), lambda result: self._walked(way, entry, text, result)
            )

    def _walked(self, way: str, entry: Entry, text: str, result: EntryList | LciError) -> None:
        if text != self.text:
            return  # somebody types on
        if isinstance(result, LciError):
            self._say(result)
            return
        title = f"{way} of {entry.file if way == 'outline' or not entry.name else entry.name}"
        if not result.entries:
            self.message = f"no {title}"
            self._changed()
            return
        self.view.text, self.message = self.text, ""
        self.views.append(View(title, result))
        self.text = ""
        at = [i for i, other in enumerate(result.entries) if other.file == entry.file and other.line <= entry.line]
        self.select(at[-1] if way == "outline" and at else 0)

    def back(self) -> bool:
        """Leave the last walk and show the list before it; returns False if there is no walk to leave."""
        if len(self.views) == 1:
            return False
        self.views.pop()
        self.text, self.message = self.view.text, ""
        self.select(self.view.selected)
        return True
