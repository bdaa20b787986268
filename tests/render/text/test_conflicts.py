"""Symbols with several definitions, and sources that disagree, as text."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py.render import relative_paths
from lci_py.render.json import answers
from lci_py.render.places import paths
from lci_py.render.text import conflicts, results
from lci_py.render.text.style import Page, width_of
from lci_py.types.conflicts import Conflict, ConflictsAnswer
from lci_py.types.record import replace
from lci_py.types.search import CONFLICT_TYPES, RELATIONS, Answer, DefinitionSite, IndexInfo
from tests.render.text.test_results import FORBIDDEN, hostile, make

INDEX = IndexInfo(12, "2025-03-01T09:30:00Z", "abc123", "main", 0)
Site = DefinitionSite
LONG = "linux && (cgo || osusergo) && !(android || windows) && defined(HAVE_GETPWNAM_R)"
OPEN = Conflict(
    "open",
    "net.open",
    "function",
    "go",
    "overlap",
    (
        Site("net/open.go", 12, "main", "linux", "overlap", active=True),
        Site("net/open_cgo.go", 140, "main", LONG, "overlap"),
        Site("net/open_windows.go", 14, "main", "windows", "variant"),
    ),
)
TWICE = Conflict(
    "close",
    "Session.close",
    "method",
    "python",
    "duplicate",
    (Site("a.py", 3, "main", None, "duplicate"), Site("a.py", 9, "main", None, "duplicate", active=True)),
)
GONE = Conflict(
    "seal", "seal", "function", "c", "branch", (Site("seal.c", 3, "release-2", None, "branch"),), missing_on=("main",)
)
MANY = Conflict(
    "flush",
    "io.flush",
    "function",
    "c",
    "variant",
    tuple(Site(f"os/f{i}.c", i, "main", f"defined(OS_{i})", "variant", i == 17) for i in range(1, 21)),
)
TIMEOUT: dict[str, Any] = {
    "conflict_type": "numeric-mismatch",
    "recommended_resolution": "prefer-authoritative",
    "sources": ["src/config.py:12", "README.md:40"],
    "reasoning": "TIMEOUT is 30 in src/config.py:12 and 60 in README.md:40, which describes it.",
}


def answer(*found: Conflict, **changes: Any) -> ConflictsAnswer:
    count = {name: sum(conflict.relation == name for conflict in found) for name in RELATIONS}
    return replace(ConflictsAnswer(found, (), len(found), count, INDEX), **changes)


def shown(found: ConflictsAnswer, encoding: str = "utf-8", **options: Any) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="")
    conflicts.render(found, Page(file, options.pop("color", False), options.pop("width", None)), **options)
    file.flush()
    return raw.getvalue().decode(encoding)


WIDE = f"""\
⚠ overlap: both can hold at once
  function net.open  go
    net/open.go:12          [linux]    ← active here
    net/open_cgo.go:140     [{LONG}]
    net/open_windows.go:14  [windows]  variant

⚠ duplicate: twice in one scope, under one condition: an error, or one of them is lost
  method Session.close  python
    a.py:3, 9  ← line 9 is active here

⚠ numeric-mismatch: TIMEOUT is 30 in src/config.py:12 and 60 in README.md:40, which describes it.
    src/config.py:12
    README.md:40
    → prefer-authoritative

branch: branches define it differently
  function seal  c
    seal.c:3  on release-2
    none on main

3 conflicts: 1 overlap, 1 duplicate, 1 branch · 1 disagreement between sources
"""
NARROW = """\
⚠ overlap: both can hold at once
  function net.open  go
    net/open.go:12
        [linux]    ← active here
    net/open_cgo.go:140
        [linux && (cgo || osusergo) && !(an…
    net/open_windows.go:14
        [windows]  variant

⚠ duplicate: twice in one scope, under one …
  method Session.close  python
    a.py:3, 9  ← line 9 is active here

⚠ numeric-mismatch: TIMEOUT is 30 in
    src/config.py:12 and 60 in README.md:40,
    which describes it.
    src/config.py:12
    README.md:40
    → prefer-authoritative

branch: branches define it differently
  function seal  c
    seal.c:3  on release-2
    none on main

"""
ALL = answer(GONE, OPEN, TWICE, conflicts=(TIMEOUT,))


def test_a_list_through_a_pipe() -> None:
    """The gravest relation comes first, and in a pipe nothing is cut or wrapped."""
    assert shown(ALL) == shown(ALL, width=200) == WIDE


def test_a_list_on_a_narrow_terminal() -> None:
    """The condition is cut; the place and the mark of the active definition stay whole."""
    assert shown(ALL, width=44, footer=False) == NARROW


def test_a_list_on_an_ascii_terminal() -> None:
    expected = WIDE
    for sign, plain in (("⚠", "!"), ("←", "<-"), ("→", "->"), ("·", "-")):
        expected = expected.replace(sign, plain)
    assert shown(ALL, "ascii") == expected
    assert "..." in shown(ALL, "ascii", width=60)


def test_colour_adds_nothing_that_is_not_there_without_it() -> None:
    coloured = shown(ALL, color=True)
    assert "\x1b[35mnet/open.go\x1b[0m:\x1b[32m12\x1b[0m" in coloured
    assert "\x1b[1m← active here\x1b[0m" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == WIDE
    assert "\x1b" not in shown(ALL)


def test_many_definitions_are_summed_up() -> None:
    text = shown(answer(MANY))
    assert text.count("os/f") == 8
    assert "    os/f17.c:17  [defined(OS_17)]  ← active here\n    … and 12 more: lci conflicts io.flush\n" in text
    whole = shown(answer(MANY), whole=True)
    assert whole.count("os/f") == 20 and "more" not in whole


def test_what_has_one_reason_is_told_once() -> None:
    """Names in the same files under the same conditions are one entry, save where all definitions are asked for."""
    many = tuple(replace(MANY, qualified_name=f"io.f{i}") for i in range(12))
    text = shown(answer(*many))
    assert text.count("os/f1.c") == 1
    assert "    the same holds for 11 more names: io.f1, io.f2, io.f3, io.f4, io.f5, io.f6, io.f7, io.f8, …\n" in text
    assert shown(answer(*many), whole=True).count("os/f1.c") == 12
    alone = tuple(replace(TWICE, qualified_name=f"f{i}") for i in range(3))
    assert shown(answer(*alone)).count("a.py:3, 9") == 3  # in one file, each name is a mistake of its own


def test_an_overlap_says_where_both_hold() -> None:
    text = shown(answer(replace(OPEN, witness="on linux, with A set")))
    assert "    both hold on linux, with A set\n" in text


def test_a_name_in_a_command_line_is_quoted() -> None:
    found = replace(MANY, qualified_name="Box::operator()")
    assert "12 more: lci conflicts 'Box::operator()'\n" in shown(answer(found))


def test_the_last_line_counts() -> None:
    def last(found: ConflictsAnswer) -> str:
        return shown(found).splitlines()[-1]

    assert last(answer()) == "no conflicts"
    assert last(answer(conflicts=(TIMEOUT,) * 2)) == "2 disagreements between sources"
    assert last(answer(TWICE)) == "1 conflict: 1 duplicate"
    assert last(answer(TWICE, OPEN, MANY, MANY)) == "4 conflicts: 2 variant, 1 overlap, 1 duplicate"
    cut = answer(TWICE, total=1234, by_relation={"variant": 1000, "duplicate": 234})
    assert last(cut) == "1 of 1,234 conflicts: 1,000 variant, 234 duplicate"
    stale = answer(TWICE, index=replace(INDEX, stale_files=2))
    rest = answer(left_out={"fallback": 1, "variant": 1234, "foreign": 3})
    assert last(rest) == "no conflicts · 1 fallback, 1,234 variants, 3 in vendored or generated files: --all"
    assert last(stale).endswith(" · 2 files changed since: run `lci index`")
    assert shown(answer(), footer=False) == ""


def search(sites: tuple[DefinitionSite, ...], width: int | None = None, **changes: Any) -> str:
    row = make(file="net/open.go", line=12, qualified_name="net.open", conflict=True, definitions=sites)
    file = io.StringIO()
    found = Answer("q", "dense", (row,), 1, False, INDEX)
    results.render(replace(found, **changes), Page(file, width=width), snippet_lines=0)
    return file.getvalue()


def test_below_a_result() -> None:
    other = Site("net/open.go", 12, "release-2", None, "branch")
    assert search((*OPEN.definitions[::2], other)) == (
        "net/open.go\n12 function net.open  dense  ⚠ conflict\n"
        "    3 definitions, overlap: both can hold at once\n"
        "      net/open.go:12          [linux]    overlap  ← active here, this row\n"
        "      net/open_windows.go:14  [windows]  variant\n"
        "      net/open.go:12                     branch   on release-2\n"
        "1 result · dense\n"
    )


def test_one_list_for_all_rows_of_a_symbol() -> None:
    """Results with different definitions have a list each."""
    rows = [
        make(file=site.file, line=site.line, conflict=True, definitions=sites)
        for sites in (OPEN.definitions, TWICE.definitions)
        for site in sites
    ]
    file = io.StringIO()
    results.render(Answer("q", "dense", tuple(rows), 5, False, INDEX), Page(file), snippet_lines=0)
    said = [line.strip() for line in file.getvalue().splitlines() if "definitions, " in line]
    assert said == [
        "3 definitions, overlap: both can hold at once",
        "3 definitions, overlap: listed above, at net/open.go:12",
        "3 definitions, overlap: listed above, at net/open.go:12",
        "2 definitions, duplicate: twice in one scope, under one condition: an error, or one of them is lost",
        "2 definitions, duplicate: listed above, at a.py:3",
    ]
    assert file.getvalue().count("\n      ") == 5


def test_below_a_result_the_own_row_is_always_shown() -> None:
    own = Site("net/open.go", 12, "main", "cgo", "variant")
    text = search((*MANY.definitions, own))
    assert text.count("variant\n") == 6
    assert "variant  ← active here\n" in text and "variant  this row\n" in text
    assert "      … and 13 more: lci conflicts net.open\n" in text


def test_a_source_that_is_a_result_is_named() -> None:
    row = {**TIMEOUT, "sources": ["id0", "README.md:40"]}
    text = search(OPEN.definitions, conflicts=(row,))
    assert "    net.open (net/open.go:12)\n    README.md:40\n    → prefer-authoritative\n" in text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_terminal_is_not_overrun(width: int) -> None:
    deep = tuple(replace(site, file=f"{'d' * 20}/{site.file}") for site in OPEN.definitions)
    wide = replace(OPEN, qualified_name="n" * 200, definitions=deep)
    text = shown(answer(wide, TWICE, GONE, conflicts=(TIMEOUT,)), width=width, footer=False)
    assert max(map(width_of, text.splitlines())) <= max(width, len("  function   go") + width)
    body = [line for line in text.splitlines() if "nnn" not in line]
    assert max(map(width_of, body)) <= max(width, len(f"    {'d' * 20}/net/open_windows.go:14"))
    assert "← active here" in text
    assert max(map(width_of, search(OPEN.definitions, max(width, 44)).splitlines()[1:])) <= max(width, 44)


def test_paths_are_places_in_this_tree() -> None:
    found = answer(GONE, TWICE, replace(TWICE, relation="overlap"), conflicts=(TIMEOUT,))
    assert "".join(paths(answers.conflicts(found))) == "a.py:3\na.py:9\nsrc/config.py:12\nREADME.md:40\n"


def test_from_a_subfolder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    ids = {**TIMEOUT, "sources": ["0f3a", "src/config.py:1"], "reasoning": "src/config.py:1, asrc/config.py:1 (0f3a)"}
    moved = relative_paths.seen_from(answer(OPEN, conflicts=(TIMEOUT, ids)), tmp_path, str(tmp_path / "src"))
    assert [site.file for site in moved.results[0].definitions][:1] == ["../net/open.go"]
    assert moved.conflicts[0]["sources"] == ["config.py:12", "../README.md:40"]
    assert (
        moved.conflicts[0]["reasoning"]
        == "TIMEOUT is 30 in config.py:12 and 60 in ../README.md:40, which describes it."
    )
    assert moved.conflicts[1]["sources"] == ["0f3a", "config.py:1"]
    assert moved.conflicts[1]["reasoning"] == "config.py:1, asrc/config.py:1 (0f3a)"
    row = make(conflict=True, definitions=OPEN.definitions)
    search_ = relative_paths.seen_from(
        Answer("q", "dense", (row,), 1, False, INDEX, conflicts=(TIMEOUT,)), tmp_path, str(tmp_path / "src")
    )
    assert search_.conflicts == moved.conflicts[:1]
    assert relative_paths.seen_from(answer(OPEN), tmp_path, str(tmp_path)) == answer(OPEN)


@given(hostile, st.sampled_from(RELATIONS), st.sampled_from([None, 60]))
def test_no_field_can_send_a_control_character(value: str, relation: str, width: int | None) -> None:
    sites = (Site(value, 1, value, value, relation), Site(value, 2, "main", value, relation, active=True)) * 6
    evil = Conflict(value, value, value, value, relation, sites, missing_on=(value,))
    said = {"conflict_type": CONFLICT_TYPES[0], "recommended_resolution": value, "sources": [value], "reasoning": value}
    found = answer(evil, conflicts=(said,))
    assert not re.search(FORBIDDEN, shown(found, width=width))
    assert not re.search(FORBIDDEN, "".join(paths(answers.conflicts(found))))


def test_conditions_that_differ_only_at_their_ends_are_shown_whole() -> None:
    start = "!defined(SIZEOF_OFF_T) && !(defined(__VMS) && !defined(__VAX)) && "
    ends = ("defined(__OS400__)", "defined(__MVS__)")
    sites = tuple(Site("lib/setup.h", i, "main", start + end, "fallback") for i, end in enumerate(ends, 5))
    macro = Conflict("SIZEOF_OFF_T", "SIZEOF_OFF_T", "macro", "c", "fallback", sites)
    lines = shown(answer(macro), width=80).splitlines()
    assert max(map(width_of, lines)) <= 80
    assert lines[2:4] == ["    lib/setup.h:5", f"        [{start.rstrip()}"]
    assert [line.strip() for line in lines if "]" in line] == [f"{end}]" for end in ends]
    huge = tuple(replace(site, build_tag="a && " * 500 + f"b{i}") for i, site in enumerate(sites))
    assert len(shown(answer(replace(macro, definitions=huge)), width=80).splitlines()) < 20


def test_a_note_without_room_beside_its_place_stands_below_it() -> None:
    path = "activesupport/lib/active_support/core_ext/time/calculations.rb"
    sites = (Site(path, 336, "main", None, "duplicate"), Site(path, 354, "main", None, "duplicate", active=True))
    lines = shown(answer(replace(TWICE, definitions=sites)), width=80).splitlines()
    assert lines[2:4] == [f"    {path}:336, 354", "        ← line 354 is active here"]
