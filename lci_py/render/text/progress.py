"""The progress of `lci index`, as one line on a terminal's stderr. Not rich: its import takes 50 ms."""

from __future__ import annotations

import time
from typing import IO

from lci_py.render.text.style import shorten, visible_line

_BAR = 24
_PERIOD = 0.1  # seconds between two drawings, so that indexing does not wait for a slow terminal


class Progress:
    """The callback of `app.build_index`, as a context manager that removes the line at the end."""

    def __init__(self, file: IO[str], width: int) -> None:
        self._file = file
        self._width = width
        self._next = 0.0
        self._stage = ""
        self._drawn = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage == self._stage and now < self._next and done < total:
            return
        self._stage, self._next = stage, now + _PERIOD
        text = f"{visible_line(stage):<10}"
        if total > 0:
            filled = min(_BAR, _BAR * done // total)
            text += f" [{'#' * filled}{' ' * (_BAR - filled)}] {done:,}/{total:,}"
        self._file.write(f"\r\x1b[K{shorten(text, self._width - 1, '')}")
        self._file.flush()
        self._drawn = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            self._file.write("\r\x1b[K")
            self._file.flush()
