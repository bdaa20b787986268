"""`--trace`: how long the stages of a search took, and how many candidates came in and went out."""

from __future__ import annotations

import time
from typing import Any


class Stage:
    """One stage. Around its work it is a context manager; what is set in between is reported."""

    def __init__(self, came: int | None) -> None:
        self.came = came
        self.left: int | None = None
        self._began = 0.0
        self.ms = 0.0

    def __enter__(self) -> Stage:
        self._began = time.perf_counter()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.ms += (time.perf_counter() - self._began) * 1e3

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"ms": self.ms}
        if self.came is not None:
            found["candidates_in"] = self.came
        if self.left is not None:
            found["candidates"] = self.left
        return found


class Trace:
    """The stages of one search, in the order in which they began."""

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}

    def stage(self, name: str, came: int | None = None) -> Stage:
        """A stage to enter; `came` candidates come in, None if that says nothing. Entered again, its times add up."""
        found = self._stages.setdefault(name, Stage(came))
        found.came = came
        return found

    def add(self, name: str, ms: float, came: int | None = None, left: int | None = None) -> None:
        """A stage that was measured elsewhere, in milliseconds."""
        stage = self.stage(name, came)
        stage.ms += ms
        stage.left = left

    def as_json(self) -> dict[str, dict[str, Any]]:
        return {name: stage.as_json() for name, stage in self._stages.items()}
