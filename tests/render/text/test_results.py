"""Results, builds and the state of the index as text, on a terminal and in a pipe."""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py.render.json.answer import search
from lci_py.render.places import paths
from lci_py.render.text import index, progress as progress_text, results
from lci_py.render.text.progress import Progress
from lci_py.render.text.style import Page, shorten, visible, visible_line, visible_path, width_of
from lci_py.source.repository.ignored import IgnoreRule
from lci_py.types.index import EXTRACTED, SLOW_MODEL, BuildSummary
from lci_py.types.record import replace
from lci_py.types.search import (
    Answer,
    DefinitionSite,
    Degradation,
    GraphContext,
    GraphLink,
    IndexInfo,
    Result,
)
from lci_py.types.source import FileEntry, Skip

INDEX = IndexInfo(12, "2025-03-01T09:30:00Z", "abc123", "main", 0)
CODE = "func encrypt(p []byte) {\n\treturn\n}\n"
UNSEEN = "\xad\u034f\u200b\u200c\u200d\u2060\u3164\ufe00\ufeff\U000e0041\U000e0101"
hostile = st.text(st.characters() | st.sampled_from("\x1b\x9b\r\n\t\u202e\u2066\u2028\udcff" + UNSEEN), max_size=30)
FILLERS = "\u115f\u1160\u3164\uffa0"  # letters without a glyph
FORBIDDEN = f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069{UNSEEN}]"


def make(**changes: Any) -> Result:
    base = Result(
        id="id0",
        file="src/aes.go",
        line=9,
        end_line=11,
        symbol="encrypt",
        qualified_name="crypto.encrypt",
        kind="function",
        language="go",
        signature="func encrypt(p []byte)",
        snippet=CODE,
        mode_source="dense",
        mode_score=0.834,
    )
    return replace(base, **changes)


def answer(*found: Result, **changes: Any) -> Answer:
    return replace(Answer("q", "dense", found, 37, True, INDEX), **changes)


def shown(found: Answer, encoding: str = "utf-8", **options: Any) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="")
    results.render(found, Page(file, options.pop("color", False), options.pop("width", None)), **options)
    file.flush()
    return raw.getvalue().decode(encoding)


# --- text -------------------------------------------------------------------------------------------------------


@given(hostile)
def test_visible_text_has_no_control_characters(value: str) -> None:
    assert not re.search(FORBIDDEN, visible(value))
    assert not re.search(FORBIDDEN + "|[\n\t]", visible_line(value))
    assert not re.search(FORBIDDEN + "|[\n\t]", visible_path(value))
    visible(value).encode("utf-8")
    visible_line(value).encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters=FILLERS), max_size=30))
def test_ordinary_text_is_left_alone(value: str) -> None:
    assert visible(value) == visible_line(value) == visible_path(value) == value


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("a\x1b[31m", "a\\x1b[31m"),
        ("a\r\nb\r", "a\nb\\r"),
        ("\u202e", "\\u202e"),
        ("\udcff", "\\xff"),
        ("\x9b", "\\x9b"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("\U0001f468\u200d\U0001f4bb", "\U0001f468\\u200d\U0001f4bb"),  # joined emoji: the joiner is seen
        ("v1\ufe0f#\ufe0e", "v1\\ufe0f#\\ufe0e"),  # a sign of no key
        ("\u26a0\ufe0f 1\ufe0f\u20e3", "\u26a0\ufe0f 1\ufe0f\u20e3"),  # the coloured form of a sign
        ("a\ufe0f\u26a0\ufe0f\ufe0f\ufe01", "a\\ufe0f\u26a0\ufe0f\\ufe0f\\ufe01"),
    ],
)
def test_visible_spells_out(raw: str, seen: str) -> None:
    assert visible(raw) == seen


def test_every_format_character_is_spelled_out() -> None:
    found = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cf"]
    assert [char for char in found if visible(char) == char] == []


def test_a_path_keeps_its_bytes_and_stays_on_one_line() -> None:
    assert visible_path("a\n\udcff") == "a\\n\udcff"


@given(st.text(st.characters(categories=["L", "N"]), max_size=30), st.integers(1, 40))
def test_shortened_text_fits(value: str, width: int) -> None:
    assert width_of(shorten(value, width, "…")) <= width
    assert shorten(value, None, "…") == value


# --- results ----------------------------------------------------------------------------------------------------


def test_a_result_through_a_pipe() -> None:
    assert shown(answer(make())) == (
        "src/aes.go\n"
        "9-11 function crypto.encrypt  dense\n"
        "    9: func encrypt(p []byte) {\n"
        "    10: \treturn\n"
        "    11: }\n"
        "the best result, more with -n · dense\n"
    )


def test_results_through_a_pipe_are_grouped_by_file() -> None:
    nested = make(
        id="id2", line=20, end_line=20, qualified_name="AES", kind="type", snippet="\t\ttype AES\n\n\t\t\tint\n"
    )
    text = shown(answer(make(snippet=""), make(id="id1", file="b.go", also_matched=(("bm25", 1.0),)), nested))
    assert text == (
        "src/aes.go\n9-11 function crypto.encrypt  dense\n    func encrypt(p []byte)\n"
        "20 type AES  dense\n    func encrypt(p []byte)\n    20: type AES\n    22: \tint\n"
        "b.go\n9-11 function crypto.encrypt  dense+bm25\n"
        "    9: func encrypt(p []byte) {\n    10: \treturn\n    11: }\n"
        "the best 3 results, more with -n · dense\n"
    )
    # On a terminal they stand in the order of the ranking, each under its place.
    lines = shown(answer(make(), make(id="id1", file="b.go"), nested), width=80).splitlines()
    assert [line.split("  ")[0] for line in lines if line[:1].strip()][:3] == [
        "src/aes.go:9",
        "b.go:9",
        "src/aes.go:20",
    ]
    assert "     9 │ func encrypt(p []byte) {" in lines


def test_a_page_says_which_results_it_has() -> None:
    assert shown(answer(make(), make(), offset=10)).endswith("results 11 to 12 of 37 · dense\n")
    assert shown(answer(offset=50)).endswith("0 results · dense\n")


def test_layers_of_multiview() -> None:
    callers = tuple(GraphLink(f"g{i}", f"c{i}", "b.go", i) for i in range(4))
    nameless = GraphLink("g9", None, "main.go", 3)
    graph = GraphContext(callers=callers, imported_by=(nameless,), counts={"callers": 9})
    first = make(also_matched=(("bm25", 0.6), ("symbolic", 1.0)), graph=graph)
    second = make(id="id1", file="b.go", via=(("id0", "called_by"),))
    assert "imported by" not in shown(answer(first, second, mode="multiview"))
    lines = shown(answer(first, second, mode="multiview"), imports=True, width=100).splitlines()
    assert lines[0].endswith("  dense +bm25 +symbolic")
    assert "    callers: c0, c1, c2 (+6)" in lines
    assert "    imported by: main.go" in lines
    assert "    via called by crypto.encrypt (src/aes.go:9)" in lines


def test_a_block_is_shown_as_its_lines() -> None:
    text = shown(answer(make(kind="block", symbol=None, qualified_name=None, signature=None)), width=40)
    assert text.splitlines()[0] == "src/aes.go:9  lines 9-11           dense"


def test_the_footer_counts_what_matches_by_structure() -> None:
    assert shown(answer(make(), mode="symbolic")).endswith("1 of 37 results · symbolic\n")
    assert shown(answer(make(), mode="symbolic", total=1)).endswith("\n1 result · symbolic\n")


def test_a_first_index_reuses_nothing_of_a_user() -> None:
    built = BuildSummary("/r", 2, True, 1, {"python": 2}, {}, 3, {}, {}, 0.5, 10, 20, parsed_files=1, reused_files=1)
    for generation, said in ((1, False), (2, True)):
        file = io.StringIO()
        index.render_build(replace(built, generation=generation), Page(file))
        assert ("1 parsed · 1 unchanged" in file.getvalue()) == said


def test_conflicts_and_stale_rows_are_flagged() -> None:
    sites = (DefinitionSite("a.go", 1, "main", None, "variant"), DefinitionSite("abc.go", 22, None, "fips", "variant"))
    flagged = answer(make(stale=True, conflict=True, definitions=sites))
    text = shown(flagged)
    assert text.splitlines()[1] == "9-11 function crypto.encrypt  dense  ⚠ stale  ⚠ conflict"
    assert shown(flagged, width=80).startswith("src/aes.go:9  function crypto.encrypt  ⚠ stale  ⚠ conflict  ")
    assert (
        "    2 definitions, variant: a build, a platform or a flag takes one of them\n"
        "      a.go:1             variant\n"
        "      abc.go:22  [fips]  variant\n"
    ) in text
    assert "⚠ conflict" in shown(answer(make(conflict=True, definitions=sites)), snippet_lines=0).splitlines()[1]
    assert "conflict" not in shown(answer(make()))


def test_degraded_disagreeing_and_cut_answers_say_so() -> None:
    text = shown(
        answer(
            make(),
            degraded=(Degradation("dense", "timeout", "bm25", "high", "late"),),
            plan={"relaxed": ["it is \x1b[31mnot\n quoted"]},
            conflicts=({"conflict_type": "numeric-mismatch", "reasoning": "3 is not 5", "sources": ["a:1"]},),
            truncated={"results_dropped": 2, "snippets_dropped": 1, "max_tokens": 900, "definitions_dropped": 4},
            index=replace(INDEX, stale_files=2),
        )
    )
    assert "degraded: dense (timeout), answered by bm25; impact high: late\n" in text
    assert "⚠ relaxed: it is \\x1b[31mnot\\n quoted\n" in text
    assert "⚠ numeric-mismatch: 3 is not 5\n    a:1\n" in text
    assert "cut to 900 tokens: 2 results, 1 snippet and 4 definitions dropped\n" in text
    assert text.endswith("2 files changed since: run `lci index`\n")


def test_what_was_not_dropped_and_who_did_not_answer_is_not_counted() -> None:
    text = shown(
        answer(
            degraded=(Degradation("dense", "timeout", "none", "high", "late"),),
            truncated={"results_dropped": 10, "snippets_dropped": 0, "max_tokens": 900},
        )
    )
    assert "cut to 900 tokens: 10 results dropped\n" in text
    assert "degraded: dense (timeout), no view answered; impact high: late\n" in text


def test_neighbours_of_one_name_are_told_apart_by_their_places() -> None:
    callers = tuple(
        GraphLink(name + file, name, file, 1) for name, file in (("main", "a.py"), ("f", "b.py"), ("main", "c.py"))
    )
    found = answer(make(also_matched=(), graph=GraphContext(callers=(*callers, GraphLink("g", "g", "src/aes.go", 4)))))
    assert "    callers: main (a.py:1), f, main (c.py:1) (+1)" in shown(found, width=80).splitlines()
    # Who reads a pipe cannot look a name up at a glance: each has its place.
    assert "    callers: main a.py:1, f b.py:1, main c.py:1 (+1)" in shown(found).splitlines()


def test_the_plan_is_named_and_not_spelled_out_unless_asked() -> None:
    text = shown(answer(make(), mode="multiview", plan={"intent": "fast_exact", "weights": {}}))
    assert "plan " not in text
    assert text.endswith("the best result, more with -n · multiview\n")


def test_ascii_terminals_get_ascii() -> None:
    sites = (DefinitionSite("a.go", 1, None, None, "variant", active=True),) * 2
    text = shown(answer(make(stale=True, conflict=True, definitions=sites)), "ascii", width=80)
    assert "! conflict" in text
    assert "<- active here" in text
    assert " | " in text
    assert text.endswith("the best result, more with -n - dense\n")


def test_a_signature_is_shown_when_the_code_does_not_hold_it() -> None:
    assert "    func encrypt(p []byte)\n" in shown(answer(make(snippet="return 1\n")))
    assert shown(answer(make())).count("func encrypt(p []byte)") == 1


def test_without_code_a_result_is_a_row_and_columns_line_up() -> None:
    rows = shown(answer(make(), make(file="b.go", kind="type")), snippet_lines=0, width=80).splitlines()
    assert len(rows) == 3
    assert rows[0].index("function") == rows[1].index("type")
    assert rows[0].index("dense") == rows[1].index("dense")


def test_matched_words_are_marked_in_colour_only() -> None:
    code = "if x:\n\tcall(\x1b, größe, wanted_name, tail)"
    row = answer(make(snippet=code, marks=((1, 9, 14), (1, 16, 27), (1, 29, 33))))
    assert "\x1b" not in shown(row)
    coloured = shown(row, color=True)
    assert "call(\\x1b, \x1b[1;31mgröße\x1b[0m, \x1b[1;31mwanted_name\x1b[0m, \x1b[1;31mtail\x1b[0m)" in coloured
    for width in range(24, 60):  # cut inside of a word, and behind it
        plain = shown(row, width=width)
        marked = shown(row, width=width, color=True)
        assert re.sub("\x1b\\[[0-9;]*m", "", marked) == plain
        for word in re.findall("\x1b\\[1;31m(.*?)\x1b", marked):
            assert any(word and name.startswith(word) for name in ("größe", "wanted_name", "tail"))


def test_snippet_lines_are_a_limit() -> None:
    long = make(snippet="x\n" * 50)
    assert shown(answer(long), snippet_lines=7).count(": x") == 7
    assert shown(answer(long), snippet_lines=7, width=80).count("│ x") == 7


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_terminal_is_not_overrun(width: int) -> None:
    graph = GraphContext(callers=(GraphLink("g", "c" * 300, "f", 1),))
    wide = make(snippet="\t" + "字" * 200, qualified_name="n" * 200, graph=graph)
    lines = shown(answer(wide), width=width).splitlines()
    assert max(map(width_of, lines)) <= width
    assert lines[0] == "src/aes.go:9" and lines[1].startswith("    function nnn")
    assert "n" * 200 in shown(answer(wide))  # in a pipe nothing is cut


@given(hostile, st.sampled_from([None, 60]))
def test_no_field_can_send_a_control_character(value: str, width: int | None) -> None:
    link = GraphLink(value, value or None, value, 1)
    site = DefinitionSite(value, 1, value, value, value)
    step = {"name": value, "view": None, "value": 1.0, "weight": 1.0, "adds": 1.0, "terms": {value: 1.0, "b": 2.0}}
    explain = {"waterfall": [step], "views": {value: {"rank": 1, "score": 1.0}}}
    evil = make(
        file=value,
        qualified_name=value,
        kind=value,
        signature=value,
        snippet=value,
        doc=value,
        graph=GraphContext(callers=(link,)),
        via=((value, "calls"),),
        conflict=True,
        definitions=(site, site),
        explain=explain,
    )
    degraded = Degradation(value, value, value, value, value)
    found = answer(
        evil, degraded=(degraded,), conflicts=({"reasoning": value},), plan={value: [value], "intent": value, "weights": {value: 1.0}},
        trace={value: {"ms": 1.0}}, explain_file={"file": value, "status": "shown", "verdict": value, **explain},
    )  # fmt: skip
    assert not re.search(FORBIDDEN, shown(found, width=width, explain=True))
    file = io.StringIO()
    results.render_definitions(found, Page(file, width=width))
    assert not re.search(FORBIDDEN, file.getvalue() + "".join(paths(search(found))))


def test_colour_only_on_request() -> None:
    found = answer(make())
    assert "\x1b" not in shown(found)
    coloured = shown(found, color=True)
    assert coloured.startswith("\x1b[35msrc/aes.go\x1b[0m\n\x1b[32m9-11\x1b[0m ")
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == shown(found)
    on_terminal = shown(found, color=True, width=80)
    assert "\x1b[35msrc/aes.go\x1b[0m:\x1b[32m9\x1b[0m" in on_terminal
    assert re.sub("\x1b\\[[0-9;]*m", "", on_terminal) == shown(found, width=80)


def test_paths() -> None:
    found = answer(make(), make(file="a\nb\x1b.go", line=3))
    assert "".join(paths(search(found))) == "src/aes.go:9\na\\nb\\x1b.go:3\n"


def test_definitions() -> None:
    file = io.StringIO()
    results.render_definitions(answer(make(doc="Encrypts."), total=1), Page(file))
    assert file.getvalue() == (
        "src/aes.go:9  function crypto.encrypt\n    func encrypt(p []byte)\n    Encrypts.\n1 definition\n"
    )


# --- index and status -------------------------------------------------------------------------------------------

BUILT = BuildSummary(
    root="/r",
    generation=3,
    changed=True,
    files=1420,
    files_by_language={"go": 20, "python": 1400},
    symbols_by_kind={f"k{i}": i for i in range(1, 12)},
    chunks=3400,
    edges_by_kind={},
    skipped_by_reason={"binary": 12},
    seconds=2.345,
    bytes_read=1_234_567,
    bytes_on_disk=999,
    reused_files=1400,
    parsed_files=20,
    removed_files=3,
    embedded_chunks=81,
    warnings=("odd \x1b name",),
)


def test_build_summary() -> None:
    file = io.StringIO()
    index.render_build(BUILT, Page(file))
    text = file.getvalue()
    assert text.startswith(
        "indexed 1,420 files in 2.3 s (generation 3)\n  refresh   20 parsed · 1,400 unchanged · 3 removed · 81 chunks embedded\n"
    )
    assert "files     python 1,400 · go 20\n" in text
    assert "+3 more\n" in text
    assert "edges" not in text
    assert "size      1.2 MB read, 999 B on disk\n" in text
    assert text.endswith("⚠ odd \\x1b name\n")


def test_a_build_from_nothing_has_no_row_about_a_refresh() -> None:
    file = io.StringIO()
    index.render_build(replace(BUILT, reused_files=0, removed_files=0), Page(file))
    assert "refresh" not in file.getvalue()


def test_nothing_changed() -> None:
    file = io.StringIO()
    index.render_build(replace(BUILT, changed=False, warnings=()), Page(file))
    assert file.getvalue() == "up to date (generation 3)\n"


def test_a_status_counts_files_with_syntax_errors() -> None:
    file = io.StringIO()
    index.render_status({"files": 9, "errors_by_language": {"c": 3, "cpp": 1}}, Page(file))
    assert "  syntax    errors in 4 files: c 3 · cpp 1\n" in file.getvalue()
    file = io.StringIO()
    index.render_status({"files": 9, "errors_by_language": {}}, Page(file))
    assert "syntax" not in file.getvalue()


def test_a_status_names_the_extra_that_reads_what_is_text() -> None:
    file = io.StringIO()
    absent = {"hcl": {"files": 2, "extra": "languages"}, "make": {"files": 1, "extra": "languages"}}
    index.render_status({"files": 9, "absent_grammars": absent}, Page(file))
    assert (
        "2 files of hcl, 1 file of make: `pip install 'lci-py[languages]'`, then `lci index --full`\n"
        in file.getvalue()
    )
    file = io.StringIO()
    index.render_status({"files": 9, "absent_grammars": {}}, Page(file))
    assert "pip" not in file.getvalue()


def test_dry_run() -> None:
    file = io.StringIO()
    skips = [Skip(f"b{i}", "binary") for i in range(7)]
    index.render_dry_run([FileEntry("a.py", 1, 1)], skips, {}, file=file)
    assert file.getvalue().startswith("a.py\n\n1 file to index, 7 skipped\n  binary: 7\n    b0\n")
    assert file.getvalue().endswith("… and 2 more\n")
    file = io.StringIO()
    skips.append(Skip("x.log\x1b", "ignored"))
    rules = {"x.log\x1b": IgnoreRule("\x1b/.gitignore", 3, "*.log*")}
    index.render_dry_run([], skips, rules, file=file, verbose=True)
    assert "    b6\n" in file.getvalue() and "more" not in file.getvalue()
    assert file.getvalue().endswith("    x.log\\x1b (by `*.log*` in \\x1b/.gitignore, line 3)\n")


def test_nested_repositories() -> None:
    file = io.StringIO()
    status = {"root": "/r", "skipped_by_reason": {"nested_repository": 9}, "ignore_files": False}
    index.render_status(status | {"nested_repositories": [f"lib{i}/" for i in range(9)]}, Page(file))
    assert (
        "  apart     9 worktrees or submodules, not in this index: lib0 · lib1 · lib2 · lib3 · lib4 · +4 more\n"
        "  ignore    ignore files do not count (--no-ignore)\n"
    ) in file.getvalue()
    file = io.StringIO()
    one = BuildSummary("/r", 1, True, 3, {}, {}, 3, {}, {"nested_repository": 1}, 0.5, 1, 2)
    index.render_build(replace(one, nested_repositories=("lib/",), started_from="/r2", parsed_files=1), Page(file))
    assert "  reused    2 of 3 files were indexed in /r2\n" in file.getvalue()
    assert "  apart     1 worktree or submodule, not in this index: lib\n" in file.getvalue()


def test_status() -> None:
    file = io.StringIO()
    status = {
        "root": "/r\x1b",
        "generation": 3,
        "built_at": "2025-03-01T09:30:00Z",
        "age_seconds": 7300.0,
        "commit": "abcdef0123456789",
        "branch": "main",
        "model": {"name": "m", "dimension": 256, "sha256": "f" * 64},
        "files": 5,
        "shards": [{"name": "dense", "bytes": 2_000_000}],
        "bytes_on_disk": 2_000_000,
        "stale_files": 3,
        "stale_paths": ["a.py", "b.py"],
        "health": "ok",
    }
    index.render_status(status, Page(file))
    text = file.getvalue()
    assert text.startswith("/r\\x1b: ok\n  index     generation 3, built 2 hours ago, 2025-03-01T09:30:00Z\n")
    assert "git       main at abcdef012345\n" in text
    assert "shards    dense 2.0 MB\n" in text
    assert text.endswith("⚠ 3 files changed since; `lci index` refreshes them\n    a.py\n    b.py\n    … and 1 more\n")


def test_status_with_segments_and_problems() -> None:
    segment = {"files": 1, "chunks": 9, "bytes": 5_000, "shards": [{"name": "bm25-1", "bytes": 5_000}]}
    status = {
        "root": "/r",
        "chunks": 90,
        "pending_chunks": 4,
        "segments": [{**segment, "files": 12}, *[segment] * 8],
        "skipped_by_reason": {"binary": 30},
        "skipped_paths": {"binary": ["a.bin", "b\x1b.bin"]},
        "problems": ["bm25-1 does not match its checksum"],
        "warnings": ["open to \x1b all"],
        "health": "damaged",
    }
    file = io.StringIO()
    index.render_status(status, Page(file))
    text = file.getvalue()
    assert "  chunks    90, 4 not embedded yet\n" in text
    assert "  segments  9\n    1  12 files, 9 chunks, 5.0 kB: bm25-1 5.0 kB\n    2  1 file, " in text
    assert "… and 3 more\n" in text and text.count("bm25-1 5.0") == 6
    assert "a.bin" not in text
    assert text.endswith("⚠ bm25-1 does not match its checksum\n⚠ open to \\x1b all\n")
    file = io.StringIO()
    index.render_status(status, Page(file), verbose=True)
    text = file.getvalue()
    assert text.count("bm25-1 5.0") == 9
    assert "    binary: a.bin\n    binary: b\\x1b.bin\n    binary: … and 28 more\n" in text


def test_cleaned_and_hooks() -> None:
    file = io.StringIO()
    index.render_cleaned({"index_dir": "/r/.lci", "freed_bytes": 2_000_000, "kept": ["mine\x1b"]}, file)
    assert file.getvalue() == "/r/.lci: 2.0 MB freed\n  kept mine\\x1b\n"
    file = io.StringIO()
    hooks = [
        {"name": "post-commit", "state": "installed", "detail": ""},
        {"name": "post-merge", "state": "skipped", "detail": "is \x1b odd"},
    ]
    found = {"folder": "/r/.git/hooks", "changed": ["post-commit"], "hooks": hooks, "warnings": ["no index"]}
    index.render_hooks(found, Page(file))
    assert file.getvalue() == (
        "hooks in /r/.git/hooks\n  post-commit   installed (changed)\n  post-merge    skipped: is \\x1b odd\n⚠ no index\n"
    )


def test_status_of_a_folder_that_is_no_repository() -> None:
    file = io.StringIO()
    index.render_status({"root": "/r", "commit": None, "branch": None, "model": None, "health": "ok"}, Page(file))
    assert "  git" not in file.getvalue()
    assert "  model" not in file.getvalue()


def _drawn(told: str) -> list[str]:
    """What a terminal shows, one drawing after the other; the last one is what stays."""
    return told.split("\r\x1b[K")[1:]


def test_one_bar_grows_over_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    file, now = io.StringIO(), 0.0
    monkeypatch.setattr(progress_text.time, "monotonic", lambda: now)
    with Progress(file, 80) as progress:
        # A segment that is full is written before all files are parsed: the bar must not jump.
        for step in [
            ("walk", 0, 0), ("parse", 0, 40), ("parse", 10, 40), ("symbols", 0, 0), ("embed", 0, 9), ("parse", 20, 40),
            ("parse", 40, 40), ("symbols", 0, 0), ("bm25", 0, 0), ("embed", 0, 9000), ("graph", 0, 0),
            ("commit", 0, 0),
        ]:  # fmt: skip
            progress(*step)
            now += 20
    lines = _drawn(file.getvalue())
    assert lines.pop() == ""
    parts = [int(re.search(r"(\d+)%", line)[1]) for line in lines]  # type: ignore[index]
    assert parts == [0, 2, 19, 19, 19, 36, 70, 70, 77, 90, 98, 99]
    assert lines[5] == "[#######               ]  36%  1:40 elapsed, 2:57 left  extracted 20/40 files"
    assert lines[10].endswith("3:20 elapsed, 0:04 left  linking")
    assert all(len(line) < 80 for line in lines)


def test_with_a_slow_model_the_bar_waits_for_the_embedding() -> None:
    file = io.StringIO()
    with Progress(file, 80) as progress:
        progress(SLOW_MODEL, 0, 0)
        progress("parse", 40, 40)
        progress("embed", 500, 1000)
    lines = _drawn(file.getvalue())
    assert "   3%" in lines[0] and "  52%" in lines[1] and "embedding 500/1,000 chunks" in lines[1]


def test_of_a_very_large_tree_linking_is_a_quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    file, now = io.StringIO(), 0.0
    monkeypatch.setattr(progress_text.time, "monotonic", lambda: now)
    with Progress(file, 80) as progress:
        for step in [
            ("walk", 0, 0), ("walk", 80_000, 80_000), ("parse", 0, 80_000), ("parse", 40_000, 80_000), ("embed", 0, 9),
            ("parse", 80_000, 80_000), ("embed", 0, 9000), ("graph", 0, 80_000), ("graph", 40_000, 80_000),
            ("edges", 0, 0),
        ]:  # fmt: skip
            progress(*step)
            now += 100
    lines = [re.sub(r"\[[# ]*\] +", "", line) for line in _drawn(file.getvalue())]
    assert lines[1] == "2%  1:40 elapsed  found 80,000 files"
    assert lines[3] == "33%  5:00 elapsed, 10:09 left  extracted 40,000/80,000 files"
    assert lines[4] == "33%  6:40 elapsed, 13:32 left  extracted 40,000/80,000 files"  # a segment is written
    assert lines[6] == "71%  10:00 elapsed, 4:05 left  embedding 9,000 chunks"
    assert lines[8] == "86%  13:20 elapsed, 2:10 left  linking 40,000/80,000 files"


def test_extraction_is_measured_in_bytes() -> None:
    """A thousand small tests come before a hundred large sources."""
    file = io.StringIO()
    with Progress(file, 80) as progress:
        progress("walk", 1_100, 1_100)
        progress("parse", 0, 1_100)
        progress(EXTRACTED, 100, 100)
        progress("parse", 1_100, 1_100)
        assert progress.part == 0.7
        progress = Progress(file, 80)
        progress(EXTRACTED, 10, 100)
        progress("parse", 1_000, 1_100)
        assert round(progress.part, 3) == 0.088
    assert "extracted 1,000/1,100 files" in file.getvalue() and "bytes" not in file.getvalue()


def test_a_refresh_of_a_large_tree_is_mostly_linking() -> None:
    file = io.StringIO()
    with Progress(file, 80) as progress:
        for step in [("walk", 5_000, 5_000), ("parse", 0, 1), ("parse", 1, 1), ("graph", 0, 0)]:
            progress(*step)
        assert progress.part == 0.3


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_the_bar_fits_the_terminal(width: int) -> None:
    file = io.StringIO()
    with Progress(file, width) as progress:
        progress("parse", 1234, 5678)
    assert len(_drawn(file.getvalue())[0]) < width


def test_progress_draws_on_one_line_and_leaves_none() -> None:
    file = io.StringIO()
    with Progress(file, 60) as progress:
        for done in range(1001):
            progress("parse", done, 1000)
    text = file.getvalue()
    assert "\n" not in text
    assert "1,000/1,000" in text
    assert text.endswith("\r\x1b[K")
    assert text.count("\r") < 100  # it does not draw for every file


# --- long paths and names ----------------------------------------------------------------------------------------

LONG_FILE = "activesupport/lib/active_support/hash_with_indifferent_access.rb"
LONG_NAME = "ActiveSupport.Concern.HashWithIndifferentAccess"


def test_a_name_without_room_beside_its_path_gets_a_line_of_its_own() -> None:
    found = make(file=LONG_FILE, line=69, kind="class", symbol=LONG_NAME.rpartition(".")[2], qualified_name=LONG_NAME)
    lines = shown(answer(found), width=80).splitlines()
    assert lines[0] == f"{LONG_FILE}:69"
    assert lines[1].startswith(f"    class {LONG_NAME}  ") and lines[1].endswith("  dense")
    assert len(lines[1]) == 80
    assert shown(answer(found)).splitlines()[1].endswith(f" class {LONG_NAME}  dense")


def test_a_name_that_is_cut_keeps_its_last_two_parts() -> None:
    found = make(
        file="app/models/concerns/a.rb", kind="method", symbol="find", qualified_name="One.Two.Three.Four.find"
    )
    assert shown(answer(found), width=56).splitlines()[0] == "app/models/concerns/a.rb:9  method …Two.Three.Four.find"
    assert shown(answer(found), width=48).splitlines()[0] == "app/models/concerns/a.rb:9  method …Four.find"
    assert shown(answer(found), width=38).splitlines()[:2] == [
        "app/models/concerns/a.rb:9",
        "    method One.Two.Three.Four.find",  # no part of a word
    ]


def test_callers_that_do_not_fit_lose_their_beginnings_then_are_counted() -> None:
    links = tuple(GraphLink(str(i), None, "f.rb", i, f"ActionController.Parameters.step_{i}") for i in range(3))
    found = make(graph=GraphContext(callers=links, counts={"callers": 8}))
    lines = {width: shown(answer(found), width=width, snippet_lines=0).splitlines()[-2] for width in (140, 80, 50)}
    whole = ", ".join(link.qualified_name or "" for link in links)
    places = ", ".join(f"{link.qualified_name} f.rb:{link.line}" for link in links)
    assert f"    callers: {places} (+5)" in shown(answer(found))
    assert lines[140] == f"    callers: {whole} (+5)"
    assert lines[80] == "    callers: Parameters.step_0, Parameters.step_1, Parameters.step_2 (+5)"
    assert lines[50] == "    callers: Parameters.step_0 (+7)"


def test_the_state_of_an_index_fits_its_terminal() -> None:
    shards = [{"name": f"{name}-f577f5221705b9bb.arrays", "bytes": 3_200_000} for name in ("bm25", "facts", "tokens")]
    kinds = {f"kind_{i}": 1000 + i for i in range(9)}
    status = {"root": "/r", "shards": shards, "symbols": 9000, "symbols_by_kind": kinds}

    def lines(**options: Any) -> list[str]:
        file = io.StringIO()
        index.render_status(status, Page(file, options.pop("color", False), options.pop("width", None)), **options)
        return file.getvalue().splitlines()

    narrow = lines(width=60)
    assert max(map(len, narrow)) <= 60
    assert "  shards    bm25 3.2 MB · facts 3.2 MB · tokens 3.2 MB" in narrow
    symbols = next(i for i, line in enumerate(narrow) if line.startswith("  symbols"))
    assert narrow[symbols + 1].startswith(" " * 12 + "kind_")
    assert "bm25-f577f5221705b9bb.arrays 3.2 MB" in "\n".join(lines(verbose=True))


def test_progress_leaves_room_for_the_echo_of_ctrl_c() -> None:
    file = io.StringIO()
    with Progress(file, 40) as progress:
        progress("parse", 512, 4366)
        drawn = file.getvalue().replace("\r\x1b[K", "")
    assert len(drawn) + len("^C") < 40
