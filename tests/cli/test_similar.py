"""`lci similar` as an agent asks it before it writes a helper."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import build

SWEEP = '''def sweep(pool, now):
    """Remove what has expired."""
    removed = 0
    for session in list(pool.sessions):
        if session.deadline < now and not session.busy:
            pool.sessions.remove(session)
            session.close("expired")
            removed += 1
    return removed
'''
#: The same with other names and other comments.
EVICT = """def evict(cache, today):
    # Whoever is too old has to go.
    dropped = 0
    for entry in list(cache.entries):
        if entry.deadline < today and not entry.busy:
            cache.entries.remove(entry)
            entry.close("stale")
            dropped += 1
    return dropped
"""
#: A cousin.
DRAIN = """def drain(queue, now):
    late = [job for job in queue.jobs if job.deadline < now]
    for job in late:
        queue.jobs.remove(job)
        job.cancel("expired")
    queue.report(late)
"""
FILLER = "".join(
    f"def paint_{color}(wall):\n    brush = wall.brush('{color}')\n    return [brush(part) for part in wall.parts]\n\n\n"
    for color in ("red", "blue", "grey")
)
FILES = {
    "lib/queue.py": DRAIN,
    "lib/pool.py": SWEEP,
    "lib/cache.py": EVICT,
    "lib/walls.py": FILLER,
    "lib/short.py": "def close(x):\n    pass\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("similar") / "repo", FILES)


@pytest.fixture
def similar(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("similar", *argv, **{"cwd": root, **options})


def names(ran: Ran) -> list[str]:
    assert ran.code == 0, ran.err
    VALIDATOR.validate(answer := json.loads(ran.out))
    return [found["symbol"] for found in answer["results"]]


@pytest.mark.parametrize("target", ["sweep", "lib/pool.py:5"])
def test_what_is_named_differently_is_found_and_said_to_be_a_twin(similar: Callable[..., Ran], target: str) -> None:
    found = similar(target, "--json")
    assert names(found)[0] == "evict", "the target itself is no answer"
    first, second, *_ = json.loads(found.out)["results"]
    assert first["twin"] and first["shape"] > 0.9 and "twin" not in second
    said = similar(target).out.splitlines()[0]
    assert said.startswith("⚠ a near duplicate exists already: lib/cache.py:1 evict, ")


def test_code_that_is_not_there_yet(similar: Callable[..., Ran]) -> None:
    code = SWEEP.replace("removed", "count").replace('"""Remove what has expired."""', "# Sweep.")
    assert set(names(similar("-", "--json", stdin=code))[:2]) == {"sweep", "evict"}
    assert names(similar("-", "--json", "--path", "lib/queue.py", stdin=code)) == ["drain"]
    ran = similar("-", "--path", "lib/walls.py", stdin=code)
    assert (ran.code, ran.out) == (1, "0 similar definitions\n")


def test_short_code_has_no_twin(similar: Callable[..., Ran]) -> None:
    ran = similar("-", stdin="def close(x):\n    pass\n")
    assert ran.code == 0 and "near duplicate" not in ran.out


def test_pages_and_paths(similar: Callable[..., Ran]) -> None:
    every = names(similar("sweep", "--json"))
    assert names(similar("sweep", "--json", "--limit", "1", "--offset", "1")) == every[1:2]
    assert similar("sweep", "--vimgrep").out.startswith("lib/cache.py:1:")
    assert "lib/cache.py" in similar("sweep", "--format", "markdown").out
    assert similar("sweep", "--paths").out.splitlines()[0] == "lib/cache.py:1"
    lines = similar("--batch", "-", stdin='sweep\n{"target": "x = [\\n"}\n').out.splitlines()
    assert json.loads(lines[0])["results"][0]["symbol"] == "evict" and json.loads(lines[1])["query"] == ""


@pytest.mark.parametrize(
    ("argv", "said"),
    [(("swep",), "did you mean sweep?"), (("lib/pool.py:99",), "no definition is at"), (("",), "the code is missing")],
)
def test_errors(similar: Callable[..., Ran], argv: tuple[str, ...], said: str) -> None:
    ran = similar(*argv)
    assert ran.code == 2 and said in ran.err and "Traceback" not in ran.err
