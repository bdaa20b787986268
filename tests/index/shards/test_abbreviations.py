"""Abbreviations of a repository: what counts as evidence, and what is stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.abbreviations import MOST_PAIRS, AbbreviationIndex, evidence, shortens, write_abbreviations
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.numbering import Numbering
from lci_py.search.engine import Engine
from lci_py.source.file_record import FileRecord, process_data
from lci_py.source.syntax.languages import detect
from lci_py.types.source import FileEntry

FILES = {
    "a.py": "def run(cfg: Config, ctx: Context):\n    req = make_request(ctx)\n    return req\n",
    "b.py": 'def load(cfg: Config) -> None:\n    """Read the configuration, cfg."""\n',
    "b.go": "package b\n\nfunc Serve(ctx *Context, conn net.Connection) {}\n",
    "c.py": "import middleware as mw\n\nlisten = mw.listen\n",
    "d.txt": "plain words",
}


def record(text: str, path: str = "a.py") -> FileRecord:
    data = text.encode()
    return process_data(FileEntry(path, len(data), 0), data, detect(path, data))


def pairs(text: str, path: str = "a.py") -> dict[tuple[str, str], tuple[int, int]]:
    return evidence(record(text, path))


@pytest.mark.parametrize(
    "words",
    ["cfg config", "ctx context", "auth authentication", "req request", "conn connection", "msg message", "db database",
     "idx index", "mw middleware", "recv receive", "opts options", "src source", "env environment"],
)  # fmt: skip
def test_what_may_be_an_abbreviation(words: str) -> None:
    short, long = words.split()
    assert shortens(short, long) and not shortens(long, short)


@pytest.mark.parametrize(
    "words",
    ["parse parser", "valid validation", "file files", "c client", "get generate", "int interval", "cfg context", "fig config",
     "configuration configurations", "is issue", "ab1 ab1234", "err er", "sess process", "réq réquest"],
)  # fmt: skip
def test_what_is_none(words: str) -> None:
    assert not shortens(*words.split())


def test_a_declaration_is_evidence() -> None:
    assert pairs("def f(cfg: AppConfig): ...\n") == {("cfg", "config"): (1, 0)}
    assert pairs("req = make_request()\n") == {("req", "request"): (1, 0)}
    assert pairs("request: Req = None\n") == {("req", "request"): (1, 0)}
    assert pairs("import middleware as mw\n") == {("mw", "middlewar"): (1, 0)}
    assert pairs("package p\n\nfunc f(ctx *Context) {}\n", "a.go") == {("ctx", "context"): (1, 0)}
    assert pairs("class A { void f(Statement stmt) {} }\n", "A.java") == {("stmt", "statement"): (1, 0)}


def test_a_comment_is_evidence() -> None:
    assert pairs('def auth_of(user):\n    """The authentication of a user."""\n') == {
        ("auth", "authentication"): (0, 1)
    }
    assert pairs('def f(auth):\n    """Check the authentication."""\n') == {("auth", "authentication"): (0, 1)}
    assert (
        pairs('def authentication(user):\n    """Calls auth."""\n') == {}
    )  # prose is no place to look for short names


def test_what_stands_beside_each_other_by_chance_is_none() -> None:
    assert pairs("timeout: time.Duration = 3\n") == {}  # the package is not the type
    assert pairs("time = make_timeout()\nout = 1\n") == {}  # a compound, and no long form
    assert pairs("def f(config: Config, cfg_config: Config): ...\n") == {}
    assert pairs("cfg = 1\nconfig = 2\n") == {}


def test_a_file_gives_a_bounded_number() -> None:
    names = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "klmnprs"]
    found = pairs("".join(f"{name}: {name}xtension\n" for name in names) + "bak: bakxtension2\n")
    assert len(found) == MOST_PAIRS
    assert list(found) == sorted(found)  # equal support: which of them are kept does not depend on a hash


# --- the shard ----------------------------------------------------------------------------------------------------


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def known(session: Engine) -> dict[str, list[tuple[Any, ...]]]:
    assert session.snapshot.abbreviations is not None
    words = ("cfg", "config", "ctx", "context", "req", "conn", "mw", "middlewar", "configuration", "gone")
    return {word: [tuple(pair) for pair in session.snapshot.abbreviations.of(word)] for word in words}


def test_evidence_adds_up_whatever_the_segments(tmp_path: Path) -> None:
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    write(grown, {".lci.toml": "segment_chunks = 2\n", "gone.py": "gone: Gonex = 1\ncfg: Config = 1\n" * 5})
    write(grown, {"a.py": FILES["a.py"]})
    app.build_index(str(grown), jobs=1)
    (grown / "gone.py").unlink()
    write(grown, FILES)
    app.build_index(str(grown), jobs=1)
    write(whole, {".lci.toml": "", **FILES})
    app.build_index(str(whole), jobs=1)
    with app.open_engine(str(grown)) as one, app.open_engine(str(whole)) as other:
        assert len(one.snapshot.manifest.segments) > 1 == len(other.snapshot.manifest.segments)
        assert known(one) == known(other)
        found = known(other)
    assert found["cfg"] == [("cfg", "config", 2, 2, 0)]
    assert found["config"] == found["cfg"]
    assert found["ctx"] == found["context"] == [("ctx", "context", 2, 2, 0)]
    assert found["mw"] == [("mw", "middlewar", 1, 1, 0)]
    assert found["gone"] == []


def test_an_index_that_does_not_say_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        for segment in session.snapshot.manifest.segments:
            monkeypatch.delitem(segment.shards, "related")
        assert session.snapshot.abbreviations is None


ARRAYS = {"short": "i4", "long": "i4", "starts": "i4", "files": "i4", "declared": "u1", "told": "u1"}
TEXTS = {"words": "u1", "words_sizes": "u1", "words_blocks": "i4", "words_wide": "i4", "words_widths": "i4"}


def shard(folder: Path, **changes: Any) -> AbbreviationIndex:
    """The shard of `FILES`, with some arrays replaced; it is read as a query would."""
    path = folder / "related.arrays"
    records = [record(text, path) for path, text in sorted(FILES.items())]
    write_abbreviations(path, map(evidence, records))
    arrays = Arrays(path)
    kept = {name: np.array(arrays.array(name, kind)) for name, kind in {**ARRAYS, **TEXTS}.items()}
    path.unlink()
    write_arrays(
        path,
        {name: changes.get(name, values) for name, values in kept.items() if name not in changes.get("without", ())},
    )
    counts = {"files": len(FILES), "symbols": 0, "units": 0, "chunks": 0}
    return AbbreviationIndex([path], Numbering([counts]))


def test_an_intact_shard(tmp_path: Path) -> None:
    assert [pair.long for pair in shard(tmp_path).of("cfg")] == ["config"]


@pytest.mark.parametrize("name", [*ARRAYS, *TEXTS])
def test_a_missing_array(tmp_path: Path, name: str) -> None:
    with pytest.raises(DamagedIndexError):
        shard(tmp_path, without=(name,))


i4 = lambda *values: np.array(values, np.int32)  # noqa: E731 - short names keep the table below a table


@pytest.mark.parametrize(
    "changes",
    [
        {"short": i4(0)},
        {"starts": i4(0, 1)},
        {"starts": i4(0, 99, 1, 2, 5, 6)},
        {"files": i4(0)},
        {"declared": np.zeros(1, np.uint8)},
        {"told": np.zeros(99, np.uint8)},
        {"words_blocks": i4(0, 1)},
    ],
    ids=str,
)
def test_arrays_that_do_not_fit(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(DamagedIndexError):
        shard(tmp_path, **changes).of("cfg")


@pytest.mark.parametrize("name", ["short", "long", "files"])
@pytest.mark.parametrize("number", [-1, 99, 2**31 - 1])
def test_numbers_of_nothing(tmp_path: Path, name: str, number: int) -> None:
    whole: Callable[[str], Any] = lambda key: np.array(Arrays(tmp_path / "related.arrays").array(key, "i4"))  # noqa: E731
    shard(tmp_path)
    values = whole(name)
    values[0] = number
    with pytest.raises(DamagedIndexError):
        shard(tmp_path, **{name: values})
