"""An engine that stays open between the commands of a batch or of a server."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.app import Engine


class KeptEngine:
    """Hands out one engine, and closes it at the end. Use it as a context manager."""

    def __init__(self, opened: Callable[[bool, Engine | None], Engine]) -> None:
        """Args:
        opened: Opens the index, with the whole call graph if the first argument is true. The second is the engine
            so far, which it returns or closes.
        """
        self._opened = opened
        self._engine: Engine | None = None
        self._looked = False

    def __enter__(self) -> KeptEngine:
        return self

    def __exit__(self, *_exc: object) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.__exit__()

    def look_again(self) -> None:
        """Compare the index with the files and with other processes' writes before the next answer."""
        self._looked = False

    def engine(self, *, whole: bool) -> AbstractContextManager[Engine]:
        """The open engine, which the caller must not close; with the `whole` call graph if a command needs it."""
        engine = self._engine
        lacks_graph = whole and engine is not None and not engine.snapshot.manifest.is_complete
        if engine is None or not self._looked or lacks_graph:
            self._engine = engine = self._open(whole, engine)
            self._looked = True
        return nullcontext(engine)

    def _open(self, whole: bool, engine: Engine | None) -> Engine:
        self._engine = None
        try:
            return self._opened(whole, engine)
        except BaseException:
            if engine is not None:
                engine.__exit__()
            raise
