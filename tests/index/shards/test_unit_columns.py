"""The columns are the same however files are spread over segments, and damaged files are refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError, ShardMissingError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.numbering import Numbering
from lci_py.index.shards.unit_columns import _COLUMNS, UNIT_KINDS, UnitColumns
from lci_py.search.engine import Engine
from lci_py.types.search import SearchRequest

FILES = {
    "a/__init__.py": "from a.core import Pool\n\n__all__ = ['Pool']\n",
    "a/core.py": (
        "import os\nimport sys\nimport pathlib\nimport collections\n\n\n"
        'class Pool:\n    """Keeps connections."""\n\n    def take(self):\n        return os.sep, sys.argv\n\n'
        "    def _give(self):\n        return pathlib, collections\n"
    ),
    "a/test_core.py": "def test_take():\n    assert True\n",
    "a/inner.rs": "#[cfg(test)]\nmod tests {\n    fn takes() {\n        take();\n    }\n}\n",
    "notes.md": "# Notes\n\nWhat a pool is for, in some words.\n",
    "plain.txt": "words without a grammar\n",
    "b/generated/api.py": "def call():\n    return 1\n",
    "b/made.ts": "export interface Maker {\n  make(): void;\n}\n",
}
ARRAYS = (
    "file", "symbol", "kind", "line", "end_line", "lines", "is_block", "exported", "declaration",
    "is_inner_test", "is_test", "is_text", "generated", "file_flags", "file_lines",
)  # fmt: skip


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def facts(session: Engine) -> dict[str, dict[str, Any]]:
    """Of each unit, by path and name or first line."""
    table = session.snapshot.unit_table
    rows = session.snapshot.symbols.result_rows(range(len(table)))
    return {
        f"{table.paths[table.file[unit]]} {rows[unit]['qualified_name'] or rows[unit]['line']}": {
            name: getattr(table, name)[unit].item() for name in ARRAYS if not name.startswith("file_")
        }
        for unit in range(len(table))
    }


def test_what_is_known_of_units(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        found, table = facts(session), session.snapshot.unit_table

    def having(name: str) -> set[str]:
        return {unit for unit, known in found.items() if known[name]}

    assert having("is_block") == {"a/__init__.py 1", "a/core.py 1", "plain.txt 1"}
    assert having("is_inner_test") == {"a/inner.rs tests", "a/inner.rs tests.takes"}
    assert having("is_test") == {"a/test_core.py test_take"}
    assert having("is_text") == {"notes.md Notes", "plain.txt 1"}
    assert having("generated") == {"b/generated/api.py call"}
    assert "a/core.py Pool._give" not in having("exported") and "a/core.py Pool.take" in having("exported")
    assert having("declaration") == {"b/made.ts Maker.make"}
    pool = found["a/core.py Pool"]
    assert (UNIT_KINDS[pool["kind"]], pool["line"], pool["end_line"], pool["lines"]) == ("class", 7, 14, 8)
    assert found["plain.txt 1"]["symbol"] == -1
    assert dict(zip(table.paths, table.file_lines.tolist(), strict=True))["a/core.py"] == 15


def test_they_are_those_of_the_symbolic_shard(session: Engine) -> None:
    table = session.snapshot.unit_table
    assert len(table) == session.snapshot.n_units
    for unit, row in session.snapshot.symbols.result_rows(range(len(table))).items():
        symbol = table.symbol[unit]
        assert (row["file"], row["file_number"]) == (table.paths[table.file[unit]], table.file[unit])
        assert (row["kind"], row["line"], row["end_line"]) == (
            UNIT_KINDS[table.kind[unit]], table.line[unit], table.end_line[unit]
        )  # fmt: skip
        assert row["symbol_number"] == (symbol if symbol >= 0 else None)
        assert bool(row["test"]) == table.is_test[unit] and bool(row["exported"]) == table.exported[unit]


def test_they_do_not_depend_on_the_segments(tmp_path: Path) -> None:
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    for root in (grown, whole):
        write(root, {".lci.toml": "segment_chunks = 3\n" if root == grown else ""})
    write(grown, {path: text for path, text in FILES.items() if path[0] in "bn"} | {"gone.py": "x = 1\n" * 9})
    app.build_index(str(grown), jobs=1)
    write(grown, {path: f"{text}\n" if "core" in path else text for path, text in FILES.items()})
    (grown / "gone.py").unlink()
    app.build_index(str(grown), jobs=1)
    for root in (grown, whole):
        write(root, FILES)
        app.build_index(str(root), jobs=1)
    with app.open_engine(str(grown)) as one, app.open_engine(str(whole)) as other:
        assert len(one.snapshot.manifest.segments) > 1 and not one.snapshot.numbering.identity
        assert len(other.snapshot.manifest.segments) == 1 and other.snapshot.numbering.identity
        for name in ARRAYS:
            ours, theirs = getattr(one.snapshot.unit_table, name), getattr(other.snapshot.unit_table, name)
            assert ours.dtype == theirs.dtype, name
            assert np.array_equal(ours, theirs), name
        assert one.snapshot.unit_table.paths == other.snapshot.unit_table.paths


def test_an_empty_index_has_none(tmp_path: Path) -> None:
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        table = session.snapshot.unit_table
        assert len(table) == 0 and table.paths == []
        assert all(len(getattr(table, name)) == 0 for name in ARRAYS)


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    root = tmp_path_factory.mktemp("facts") / "repo"
    write(root, FILES)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as session:
        return session.snapshot.shards("facts")[0], dict(session.snapshot.manifest.segments[0].counts)


def use(path: Path, counts: dict[str, int]) -> None:
    table = UnitColumns([path], Numbering([counts]), lambda: ["x"] * counts["files"])
    for name in (*ARRAYS, "paths"):
        getattr(table, name)


def changed(shard: tuple[Path, dict[str, int]], target: Path, name: str, change: Callable[[Any], Any]) -> Path:
    arrays = Arrays(shard[0])
    found = {key: arrays.array(key, kind) for key, (_, kind) in _COLUMNS.items()}
    found[name] = change(found[name])
    write_arrays(target, {key: values for key, values in found.items() if values is not None})
    return target


def with_item(item: int) -> Callable[[Any], Any]:
    def change(values: Any) -> Any:
        values = values.copy()
        values[-1] = item
        return values

    return change


@pytest.mark.parametrize("name", _COLUMNS)
@pytest.mark.parametrize(
    "change",
    [
        lambda values: None,
        lambda values: values[:-1],
        lambda values: np.concatenate((values, values[-1:])),
        lambda values: values[:0],
        lambda values: values.astype(np.int64),
    ],
    ids=["missing", "short", "long", "empty", "of another type"],
)
def test_an_array_that_does_not_fit_is_damage(
    shard: tuple[Path, dict[str, int]], tmp_path: Path, name: str, change: Callable[[Any], Any]
) -> None:
    use(*shard)
    with pytest.raises(DamagedIndexError):
        use(changed(shard, tmp_path / "x.arrays", name, change), shard[1])


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("unit_file", -1), ("unit_file", len(FILES)), ("unit_symbol", -2), ("unit_symbol", 1000),
        ("unit_kind", len(UNIT_KINDS)), ("unit_line", 0), ("unit_end_line", -5), ("file_lines", -1),
        ("file_lines", -1),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_damage(
    shard: tuple[Path, dict[str, int]], tmp_path: Path, name: str, item: int
) -> None:
    with pytest.raises(DamagedIndexError):
        use(changed(shard, tmp_path / "x.arrays", name, with_item(item)), shard[1])


def test_a_last_line_before_the_first_counts_as_one_line(shard: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    path = changed(shard, tmp_path / "x.arrays", "unit_line", with_item(2**31 - 1))
    table = UnitColumns([path], Numbering([shard[1]]), list)
    assert table.lines[-1] == 1 and table.lines.min() >= 1


def test_a_shard_of_another_index_is_damage(shard: tuple[Path, dict[str, int]]) -> None:
    path, counts = shard
    for kind in ("files", "units"):
        with pytest.raises(DamagedIndexError):
            use(path, {**counts, kind: counts[kind] + 1})
    with pytest.raises(DamagedIndexError):
        _ = UnitColumns([path], Numbering([counts]), list).paths  # the table of files is another's


def test_living_units_of_dead_files_are_damage(tmp_path: Path, repo: Path) -> None:
    root = Path(shutil.copytree(repo, tmp_path / "repo"))
    (root / "notes.txt").unlink()
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as session:
        counts = [segment.counts for segment in session.snapshot.manifest.segments]
        maps = session.snapshot.files.maps()
        assert maps is not None
        names = ("files_public", "files_slot", "symbols_sizes", "units_sizes", "chunks_sizes")
        stored = {name: maps.array(name, "i4").copy() for name in names}
        dead = stored["files_public"].tolist().index(-1)
        alive = dead + (1 if dead + 1 < len(stored["files_public"]) else -1)
        stored["units_sizes"][[dead, alive]] += [-1, 1]  # a row of the dead file counts as its neighbour's
        write_arrays(tmp_path / "maps.arrays", stored)
        table = UnitColumns(session.snapshot.shards("facts"), Numbering(counts, Arrays(tmp_path / "maps.arrays")), list)
        with pytest.raises(DamagedIndexError, match="deleted"):
            _ = table.file


@pytest.mark.parametrize("mode", ["dense", "bm25", "multiview"])
def test_a_query_says_that_the_shard_is_gone(tmp_path: Path, repo: Path, mode: Any) -> None:
    root = Path(shutil.copytree(repo, tmp_path / "repo"))
    for path in (root / ".lci").glob("facts-*"):
        path.unlink()
    with app.open_engine(str(root), refresh="never") as session, pytest.raises(ShardMissingError):
        session.search(SearchRequest("stock of a warehouse", mode))
