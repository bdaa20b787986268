"""The lines of a repository that match: which files, in which order, with what around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.errors import UsageError
from lci_py.search.engine import Engine
from lci_py.types.grep import FileLines, GrepRequest
from lci_py.types.search import Filters
from tests.support.graph_repo import build

ODD = {
    "bom.py": b"\xef\xbb\xbfneedle = 1\nx = needle\n",
    "crlf.c": b"int needle;\r\nreturn needle\r\n",
    "nul.c": b"int needle;\n" + b"// filler\n" * 7_000 + b"needle\n\0\nneedle\n",
    "latin.c": "// caf\xe9 needle\n".encode("latin-1"),
    "utf8.py": "é_needle = 'ééneedleé'\n".encode(),
    "noend.py": b"a = 1\nneedle",
    "empty.py": b"",
    "long.txt": b"x" * 90 + b"needle\n",
    "stems.py": b"needling = needled\nmy_needles = 'needlework'\n",
    "A/z.py": b"NEEDLE = 1\n",
    "a/x.py": b"needle = 1\n",
    "a/b/c.py": b"needle = 1\n",
    "a-b/y.py": b"needle = 1\n",
    "a.txt": b"needle\n",
    "other.py": b"thread = 1\n",
}
PATTERNS = (
    "needle", "needles", "eedl", "needling", "need(le|ling)s?", r"\bthread\b", "ne+dle", "n.*e", "^needle", "needle$",
    "[a-z]_needle", "x{5}needle", "needle|thread", "zebra", "", "^$", r"\w+ = \d", "a b", "é", "_", "filler$",
)  # fmt: skip


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("odd")
    for name, data in ODD.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as opened:
        yield opened


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with app.open_engine(str(build(tmp_path_factory.mktemp("shop")))) as opened:
        yield opened


def files(engine: Engine, pattern: str, **flags: object) -> list[FileLines]:
    return list(engine.grep(GrepRequest(pattern, **flags)).files)  # type: ignore[arg-type]


def places(engine: Engine, pattern: str, **flags: object) -> list[str]:
    found = files(engine, pattern, **flags)
    return [f"{file.path}:{line.number}" for file in found for line in file.lines if line.matches]


@pytest.mark.parametrize("ignore", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_line_of_every_file(odd: Engine, pattern: str, ignore: bool) -> None:
    """As Python's own expressions find them, line by line, in the order of names folder by folder."""
    compiled = re.compile(pattern, re.IGNORECASE if ignore else 0)
    wanted = []
    for path in sorted(ODD, key=lambda path: path.split("/")):
        text = ODD[path].removeprefix(b"\xef\xbb\xbf")
        if path == "nul.c":  # ends with the last whole line before the block that has the NUL
            text = text[: text.rfind(b"\n", 0, 65536) + 1]
        rows = text.decode("utf-8", "replace").split("\n")
        wanted += [
            f"{path}:{number}" for number, row in enumerate(rows if rows[-1] else rows[:-1], 1) if compiled.search(row)
        ]
    assert places(odd, pattern, ignore_case=ignore) == wanted


def test_files_without_the_words_are_not_read(odd: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    reader = odd.snapshot.reader
    whole = reader.read
    monkeypatch.setattr(reader, "read", lambda path: read.append(path) or whole(path))
    assert places(odd, "my_needles?\\b") == ["stems.py:2"]
    # The long word of one file is not whole in the index: it could hold anything.
    assert sorted(read) == ["long.txt", "stems.py"]


def test_lines_and_columns_of_odd_files(odd: Engine) -> None:
    found = {file.path: file.lines for file in files(odd, "needle")}
    assert [(line.text, line.spans) for line in found["bom.py"]] == [
        ("needle = 1", ((0, 6),)),
        ("x = needle", ((4, 10),)),
    ]
    assert found["crlf.c"][1].text == "return needle"
    assert found["latin.c"][0].text == "// caf\ufffd needle" and found["latin.c"][0].spans == ((8, 14),)
    assert found["utf8.py"][0].spans == ((2, 8), (14, 20))
    assert [line.number for line in found["nul.c"]] == [1]


def test_the_definition_around_a_line(shop: Engine) -> None:
    found = {
        f"{file.path}:{line.number}": line.enclosing and (line.enclosing.qualified_name, line.enclosing.line, line.enclosing.end_line)
        for file in files(shop, "clean|Keeps")
        for line in file.lines
    }  # fmt: skip
    assert found["shop/store.py:11"] == ("Store", 10, 29)
    assert found["shop/store.py:21"] == ("Store.check", 19, 21)
    assert found["shop/store.py:32"] == ("clean", 32, 33)
    assert found["shop/app.py:1"] is None
    assert found["shop/app.py:6"] == ("main", 4, 7)


def test_filters(shop: Engine) -> None:
    assert places(shop, "clean", filters=Filters(lang=("markdown",))) == ["notes.md:1", "notes.md:3"]
    assert places(shop, "clean", filters=Filters(path=("other/",))) == ["other/tools.py:1", "other/tools.py:6"]
    only = Filters(kind=("Method",), exclude=("other/",))
    assert places(shop, "clean", filters=only) == ["shop/store.py:21", "shop/store.py:25", "shop/store.py:29"]
    assert places(shop, "clean", filters=Filters(name=("siz*",))) == ["shop/store.py:25", "shop/store.py:29"]
    assert places(shop, "clean", filters=Filters(kind=("block",))) == ["shop/app.py:1", "todo.txt:1"]
    with pytest.raises(UsageError, match="unknown kind"):
        shop.grep(GrepRequest("clean", filters=Filters(kind=("methd",))))


def test_context_and_bounds(shop: Engine) -> None:
    (found,) = files(shop, "clean", filters=Filters(path=("shop/app.py",)), context=(1, 1))
    assert [(line.number, line.matches) for line in found.lines] == [
        (1, True), (2, False), (5, False), (6, True), (7, False), (18, False), (19, True), (20, False),
    ]  # fmt: skip
    assert places(shop, "clean", max_count=1) == [
        "notes.md:1", "other/tools.py:1", "shop/app.py:1", "shop/store.py:21", "todo.txt:1",
    ]  # fmt: skip
    answer = shop.grep(GrepRequest("clean", limit=3))
    assert [len(file.lines) for file in answer.files] == [2, 1]
    assert (answer.tally.lines, answer.tally.files, answer.tally.shown) == (12, 5, 3)
    counts = {file.path: file.matching for file in files(shop, "clean", lines="count", limit=2)}
    assert counts == {"notes.md": 2, "other/tools.py": 2}
    assert [file.path for file in files(shop, "clean", lines="none")][-1] == "todo.txt"


def _changed(root: Path) -> None:
    (root / "b.py").write_text("\nclean()\n")


def _new(root: Path) -> None:
    (root / "c.py").write_text("clean()\n")
    (root / "c.bin").write_bytes(b"clean\0")


def _gone(root: Path) -> None:
    (root / "a.py").unlink()


@pytest.mark.parametrize("refresh", ["never", "auto"])
@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (_changed, ["a.py:1", "b.py:2"]),
        (_new, ["a.py:1", "c.py:1"]),
        (_gone, []),
    ],
)
def test_the_files_are_searched_as_they_are_now(
    tmp_path: Path, refresh: str, change: Callable[[Path], None], wanted: list[str]
) -> None:
    root = build(tmp_path, {"a.py": "def clean():\n    pass\n", "b.py": "x = 1\n"})
    change(root)
    with app.open_engine(str(root), refresh=refresh) as engine:
        found = files(engine, "clean")
        assert [f"{file.path}:{line.number}" for file in found for line in file.lines] == wanted
        stale = [file.path for file in found if file.stale]
        assert stale == ([path.partition(":")[0] for path in wanted if path[0] != "a"] if refresh == "never" else [])
        if stale:  # the lines of a changed file are not those of the index
            assert all(line.enclosing is None for file in found if file.stale for line in file.lines)


def test_a_file_of_which_the_end_is_not_indexed_is_searched_whole(tmp_path: Path) -> None:
    (tmp_path / ".lci.toml").write_text("max_file_chunks = 2\n")
    filler = "".join(f"def filler_{i}():\n    return '{'xyz ' * 225}'\n\n\n" for i in range(12))
    root = build(tmp_path, {"a.py": filler + "def rare_bird():\n    return 1\n"})
    with app.open_engine(str(root)) as engine:
        assert places(engine, "rare_bird") == ["a.py:49"]
