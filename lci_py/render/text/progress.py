"""The progress of `lci index`: one bar for the whole run, on one line of a terminal's stderr.

The bar is drawn without rich: its import takes 50 ms, and the shares of the stages have to be known in either case.
"""

from __future__ import annotations

import time
from typing import IO

from lci_py import interrupts
from lci_py.render.text.style import shorten, visible_line
from lci_py.types.index import EXTRACTED, KEPT, SEARCHABLE, SLOW_MODEL

_BAR, _SHORTEST_BAR = 24, 6
_PERIOD = 0.1  # seconds between two drawings, so that indexing does not wait for a slow terminal
#: Columns that a terminal needs to write ^C: the line that Ctrl-C erases must not have grown to two.
_ECHO = 2
_ERASE = "\r\x1b[K"
#: Where in the whole run a stage ends, in percent: rounded medians of first indexes of five repositories of 1 to 14 MB.
_ENDS = {"walk": 2, "parse": 70, "symbols": 77, "bm25": 90, "embed": 97, "branches": 98, "graph": 99, "edges": 99,
         "commit": 100}  # fmt: skip
#: The same for a model that reads text, which takes a tenth of a second for each chunk.
_SLOW_ENDS = _ENDS | {"walk": 0, "parse": 3, "symbols": 4, "bm25": 5, "embed": 98}
#: And for a refresh, which has few files to extract: mostly the graph is written anew.
_REFRESH_ENDS = {"walk": 10, "parse": 20, "symbols": 23, "bm25": 26, "embed": 30, "branches": 30, "graph": 90,
                 "edges": 90, "commit": 100}  # fmt: skip
#: In a first index of so many files, all segments but the last are written while files are still being extracted.
_MANY_FILES = 3_000
#: The displayed name of each stage.
_WORDS = {
    "walk": "found", "read": "looked into", "parse": "extracted", "symbols": "writing", "bm25": "writing",
    "embed": "embedding", "branches": "branches", "graph": "linking", "edges": "writing the call graph",
    "commit": "publishing",
}  # fmt: skip
_FILES = ("walk", "read", "parse", "branches", "graph")  # stages that count files
#: The remaining time is a guess; not before these seconds and this part of the run have passed.
_KNOWN_AFTER, _KNOWN_FROM = 1.0, 0.05


class Progress:
    """The progress callback of `app.build_index`. As a context manager, it removes its line at the end."""

    def __init__(self, file: IO[str], width: int) -> None:
        self._file = file
        self._width = width
        self._began = time.monotonic()
        self._next = 0.0
        self._stage = ""
        self._ends = _ENDS
        self._walked = 0  # files of the tree
        self._files = (0, 0)  # extracted so far, and to extract
        self._share = 0.0  # of the bytes to extract
        self.part = 0.0  # of the whole run that is done
        self._parsed = True
        self._searchable = False
        self._drawn = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage == SLOW_MODEL:
            self._ends = _SLOW_ENDS
            return
        if stage == KEPT:
            return
        if stage == EXTRACTED:
            self._share = done / max(1, total)
            return
        if stage == SEARCHABLE:
            self._searchable = True
            return
        if stage == "walk":
            self._walked = total
        if stage == "parse":
            self._parsed, self._files = done >= total, (done, total)
            if not done and self._ends is _ENDS:
                self._ends = _ends_of(total, self._walked)
        now = time.monotonic()
        if stage == self._stage and now < self._next and (done < total or not total):
            return
        self.part = max(self.part, self._share_done(stage, done, total))
        self._stage, self._next = stage, now + _PERIOD
        self._file.write(_ERASE + self._line(self._text(now - self._began, stage, done, total)))
        self._file.flush()
        self._drawn = True

    def _share_done(self, stage: str, done: int, total: int) -> float:
        """The share (0 to 1) of the run that is done. Segments written before all files are parsed do not count."""
        if stage not in self._ends or (stage != "parse" and not self._parsed):
            return 0.0
        names = list(self._ends)
        start = self._ends[names[names.index(stage) - 1]] if stage != names[0] else 0
        share = done / total if total else 0
        if stage == "parse" and self._share:
            share = self._share
        return (start + (self._ends[stage] - start) * share) / 100

    def _line(self, text: str) -> str:
        """The line with the bar, then the text; on a narrow terminal the bar is short."""
        width = max(_SHORTEST_BAR, min(_BAR, self._width - 4 - _ECHO - len(text)))
        filled = int(width * self.part)
        return shorten(f"[{'#' * filled}{' ' * (width - filled)}] {text}", self._width - 1 - _ECHO, "")

    def _text(self, seconds: float, stage: str, done: int, total: int) -> str:
        text = f"{self.part:4.0%}  {_clock(seconds)} elapsed"
        if seconds >= _KNOWN_AFTER and self.part >= _KNOWN_FROM:
            text += f", {_clock(seconds / self.part - seconds)} left"
        if not self._parsed:  # perhaps a segment is being written meanwhile
            stage, (done, total) = "parse", self._files
        text += f"  {_WORDS.get(stage) or visible_line(stage)}{' (searchable)' if self._searchable else ''}"
        if total > 0 or (stage == "walk" and done):
            whole = stage == "walk" or (stage == "embed" and self._ends is not _SLOW_ENDS)  # at once
            count = f"{max(done, total):,}" if whole else f"{done:,}/{total:,}"
            text += f" {count} {'files' if stage in _FILES else 'chunks'}"
        return text

    def erased(self) -> str:
        """The escape sequence that removes the line from the terminal; "" if nothing was drawn."""
        return _ERASE if self._drawn else ""

    def __enter__(self) -> Progress:
        self._at_interrupt = interrupts.at_interrupt(lambda: interrupts.say(2, self.erased()))
        self._at_interrupt.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._at_interrupt.__exit__()
        self._file.write(self.erased())
        self._file.flush()


def _ends_of(files: int, total: int) -> dict[str, int]:
    """Maps each stage to the percentage of the run at its end, for a run that parses `files` of the `total` files."""
    if total and files * 10 < total:
        return _REFRESH_ENDS
    if files < _MANY_FILES:
        return _ENDS
    linking = 5 + min(20, files // 4_000)  # 0.07 of the time for 10,000 files of C, 0.25 for the kernel's 80,000
    end = 99 - linking
    return {"walk": 0, "parse": end - 8, "symbols": end - 6, "bm25": end - 3, "embed": end,
            "branches": end, "graph": 98, "edges": 99, "commit": 100}  # fmt: skip


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
