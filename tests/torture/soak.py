"""Questions to a tree that somebody edits, while runs of `lci index` are killed: every answer is about one state of it.

    python -m tests.torture.soak --minutes 20 --seed 1

What each state must answer is computed here, from the text alone. An answer must be that of a state which existed while
it was computed, or say that the index is behind (`stale_files`, `unchecked_files`, a result that is `stale`). At least
60 % must not need to say so.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.torture.program import Program, Ran
from tests.torture.report import Report, arguments
from tests.torture.trees import rng

FILES, MARKS = 24, 6
#: Seconds between two edits, on average; some come in quick succession.
_PAUSE, _QUICK = 2.0, 0.02
_LEAST_UNMARKED = 0.6
State = dict[str, str]  # path -> text
Answer = frozenset[tuple[Any, ...]]


def text_of(number: int, random_: random.Random) -> str:
    """A file with one function, which calls others, and some marks; both differ each time."""
    others = sorted(random_.sample([other for other in range(FILES) if other != number], 2))
    lines = [f"from part{other} import fn_{other}" for other in others]
    lines += [""] * random_.randint(1, 4)
    lines += [f"def fn_{number}(value):", f"    # mark_{random_.randrange(MARKS)} of fn_{number}"]
    lines += [f"    fn_{other}(value)" for other in others]
    return "\n".join([*lines, f"    return {random_.randrange(10**6)}", ""])


class History:
    """The states of the tree, each with the time when its edit began."""

    def __init__(self, root: Path, scratch: Path, random_: random.Random) -> None:
        self._root, self._scratch, self._random = root, scratch, random_
        root.mkdir(parents=True)
        self._states: list[tuple[float, State]] = [(0.0, {})]
        self._ended: list[float] = [0.0]
        for number in range(FILES):
            self.edit(number)

    def edit(self, number: int | None = None) -> None:
        """Rewrite a file, or remove it, or bring it back."""
        fresh = number is not None
        if number is None:
            number = self._random.randrange(FILES)
        path, state = f"part{number}.py", dict(self._states[-1][1])
        if path in state and not fresh and self._random.random() < 0.15:
            del state[path]
        else:
            state[path] = text_of(number, self._random)
        began = time.monotonic()
        self._states.append((began, state))
        if path in state:
            whole = self._scratch / "next"
            whole.write_text(state[path])
            os.replace(whole, self._root / path)  # never half a file
        else:
            (self._root / path).unlink()
        self._ended.append(time.monotonic())

    def between(self, began: float, ended: float) -> list[State]:
        """The states that existed at some time from `began` to `ended`."""
        states, last = list(self._states), len(self._states) - 1
        return [
            state
            for place, (start, state) in enumerate(states)
            if start <= ended and (place == last or place + 1 >= len(self._ended) or self._ended[place + 1] >= began)
        ]


# --- what a state must answer ------------------------------------------------------------------------------------


def _lines_with(state: State, needle: str) -> Answer:
    return frozenset(
        (path, number)
        for path, text in state.items()
        for number, line in enumerate(text.split("\n"), 1)
        if needle in line
    )


def _definitions(state: State) -> dict[str, tuple[str, int]]:
    found = (next(iter(_lines_with({path: text}, "def "))) for path, text in state.items())
    return {f"fn_{path[4:-3]}": (path, line) for path, line in found}


def _callers(state: State, name: str) -> Answer:
    """Every call of a function that is there."""
    if name not in _definitions(state):
        return frozenset()
    return frozenset(place for place in _lines_with(state, f"    {name}("))


class Question(NamedTuple):
    """A command line, its right answer for a state, and what an answer said."""

    argv: tuple[str, ...]
    right: Callable[[State], Answer]
    said: Callable[[Any], Answer]


def _places(answer: Any) -> Answer:
    return frozenset((found["file"], found["line"]) for found in answer["results"])


def _phrase_places(answer: Any) -> Answer:
    """None where the answer says that the phrase stands nowhere, and is about its words."""
    return frozenset() if answer.get("plan", {}).get("relaxed") else _places(answer)


def _questions(random_: random.Random) -> list[Question]:
    name, mark = f"fn_{random_.randrange(FILES)}", f"mark_{random_.randrange(MARKS)} of"

    def one(state: State) -> Answer:
        return frozenset([_definitions(state)[name]] if name in _definitions(state) else [])

    def every(state: State) -> Answer:
        return frozenset(_definitions(state).values())

    def marked(state: State) -> Answer:
        return frozenset(_definitions(state)[f"fn_{path[4:-3]}"] for path, _ in _lines_with(state, mark))

    def shown(state: State) -> Answer:
        place = _definitions(state).get(name)
        return frozenset([(*place, state[place[0]].split("\n", place[1] - 1)[-1].rstrip("\n"))] if place else [])

    def text(answer: Any) -> Answer:
        return frozenset((found["file"], found["line"], found["text"]) for found in answer["results"])

    def sites(answer: Any) -> Answer:
        return frozenset((found["file"], line) for found in answer["results"] for line in found["sites"])

    def used(state: State) -> Answer:
        return frozenset(
            place for place in _lines_with(state, name) if f"{name}(" in (line := _line(state, place)) or
            line.endswith(f"import {name}")
        )  # fmt: skip

    return [
        Question(("grep", mark, "-F"), lambda state: _lines_with(state, mark), _places),
        Question(("def", name), one, _places),
        Question(("def", "fn_*", "-n", "100"), every, _places),
        Question(("search", "name:fn_*", "--mode", "symbolic", "-n", "100"), every, _places),
        Question(("search", f'"{mark}"', "--mode", "bm25", "-n", "100"), marked, _phrase_places),
        Question(("show", name), shown, text),
        Question(("callers", name), lambda state: _callers(state, name), sites),
        Question(("refs", name), used, _places),
    ]


def _line(state: State, place: tuple[Any, ...]) -> str:
    return state[place[0]].split("\n")[place[1] - 1]


# --- the soak ----------------------------------------------------------------------------------------------------


class Reader(threading.Thread):
    """Asks until told to stop."""

    def __init__(self, program: Program, history: History, root: Path, report: Report, number: int) -> None:
        super().__init__(name=f"reader {number}")
        self._program, self._history, self._root, self._report = program, history, root, report
        self._random = rng(report.seed, "reader", number)
        self.stop = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                self._ask(self._random.choice(_questions(self._random)))
        except BaseException as error:
            self.failure = error

    def _ask(self, question: Question) -> None:
        began = time.monotonic()
        ran = self._program.run(*question.argv, "--json", "--root", str(self._root), cwd=self._root)
        states, report = self._history.between(began, time.monotonic()), self._report
        report.count("answers")
        report.count(f"answers, {question.argv[0]}")
        report.most("most states during an answer", len(states))
        error = ran.json().get("error", {}).get("code") if ran.out else None
        if (wrong := ran.misbehaved()) or (ran.code not in (0, 1) and error not in _BEHIND):
            report.violation(f"{wrong or 'no answer'}: {ran.told()}")
            return
        if _is_marked(ran):
            report.count("answers that say they are behind")
            return
        said: Answer = frozenset() if error else question.said(ran.json())
        rights = [question.right(state) for state in states]
        if said not in rights:
            nearest = min(rights, key=lambda right: len(right ^ said))
            report.violation(
                f"of no state ({len(states)} existed): missing {sorted(nearest - said)}, too many "
                f"{sorted(said - nearest)}: {ran.told()}"
            )


#: Errors that say of a name that it is not there, or not in the index.
_BEHIND = ("unknown_target", "index_behind")


def _is_marked(ran: Ran) -> bool:
    found = ran.json()
    if "error" in found:
        return bool(found["error"].get("stale_files") or found["error"].get("unchecked_files"))
    index = found["index"]
    return bool(index["stale_files"] or index.get("unchecked_files") or found.get("degraded")) or any(
        result.get("stale") for result in found["results"]
    )


def soak(program: Program, scratch: Path, report: Report, *, seconds: float, readers: int) -> None:
    """Edit, and kill runs of the index, while readers ask."""
    random_, root = rng(report.seed, "editor"), scratch / "tree"
    history = History(root, scratch, random_)
    assert program.run("index", str(root), "--jobs", "1").code == 0
    threads = [Reader(program, history, root, report, number) for number in range(readers)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            for _ in range(random_.choice((1, 1, 1, 5))):
                history.edit()
                report.count("edits")
                time.sleep(random_.random() * _QUICK)
            if random_.random() < 0.3:
                ran = program.run("index", str(root), "--jobs", "1", "--json", kill_after=random_.random() * 0.4)
                report.count("runs of the index, killed or through")
                report.count("of them killed", ran.code == -9)
            time.sleep(random_.random() * 2 * _PAUSE)
    finally:
        for thread in threads:
            thread.stop.set()
        for thread in threads:
            thread.join()
    for thread in threads:
        if thread.failure is not None:
            raise thread.failure
    behind, answers = report.figures["answers that say they are behind"], report.figures["answers"]
    report.figures["of 1,000 answers, unmarked"] = 1000 - 1000 * behind // max(1, answers)
    if behind > (1 - _LEAST_UNMARKED) * answers:
        report.violation(f"{behind:,} of {answers:,} answers say that they are behind")


def main() -> int:
    given = arguments(__doc__, minutes=20, readers=2)
    report = Report("questions while files change", given.seed)
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name, Program(Path(name)) as program:
        soak(program, Path(name), report, seconds=given.minutes * 60, readers=given.readers)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
