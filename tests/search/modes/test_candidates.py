"""A filter means the same in every mode: the head under a filter is the head of the filtered ranking."""

from __future__ import annotations

import fnmatch
import sqlite3
from contextlib import closing
from unittest.mock import patch

import pytest
from hypothesis import given, strategies as st

from lci_py.errors import UsageError
from lci_py.search.engine import Engine
from lci_py.search.modes import single
from lci_py.search.ranking import evidence, literal_matches, same_file
from lci_py.types.search import Filters, Result, SearchRequest
from tests.support.properties import examples

EVERYTHING = 100_000
QUERIES = ["parse the configuration", "add an item to the store", "name", "total price of all orders", "Shape"]
LANGS = ["python", "go", "rust", "java", "typescript", "markdown", "text", "c"]
KINDS = ["function", "method", "class", "struct", "interface", "enum", "block", "constant", "section"]
PATHS = ["python/**", "*.go", "**/*.rs", "java", "/c", "*.py", "nowhere/**"]
NAMES = ["*e*", "add*", "?arse*", "Shape", "[A-Z]*", "*"]


def some(values: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


FILTERS = st.builds(
    Filters, lang=some(LANGS), kind=some(KINDS), path=some(PATHS), exclude=some(PATHS), name=some(NAMES)
)


def passes(result: Result, filters: Filters) -> bool:
    """The filters' meaning, written a second time and without SQL."""
    from pathspec import GitIgnoreSpec

    def matches(globs: tuple[str, ...]) -> bool:
        return GitIgnoreSpec.from_lines(globs).match_file(result.file)

    return (
        (not filters.lang or result.language in filters.lang)
        and (not filters.kind or result.kind in filters.kind)
        and (not filters.path or matches(filters.path))
        and not (filters.exclude and matches(filters.exclude))
        and (
            not filters.name
            or (result.symbol is not None and any(fnmatch.fnmatchcase(result.symbol, g) for g in filters.name))
        )
    )


@examples(120)
@given(
    mode=st.sampled_from(["dense", "bm25"]), query=st.sampled_from(QUERIES), filters=FILTERS, limit=st.integers(1, 30)
)
def test_a_single_mode_ranks_the_filtered_corpus(
    session: Engine, mode: str, query: str, filters: Filters, limit: int
) -> None:
    # What a file's other results do to a score depends on the filter, and so does how far down results are looked at.
    with (
        patch.object(single, "POOL", EVERYTHING),
        patch.object(same_file, "POOL", EVERYTHING),
        patch.object(evidence, "POOL", EVERYTHING),
        patch.object(literal_matches, "HEAD", EVERYTHING),
        patch.dict(evidence.SAME_FILE, dense=1.0, bm25=1.0),
        patch.object(evidence, "FILE", 0.0),
    ):
        whole = session.search(SearchRequest(query, mode, EVERYTHING, snippet=0)).results
        wanted = [(r.id, r.mode_score) for r in whole if passes(r, filters)]
        got = session.search(SearchRequest(query, mode, limit, filters, snippet=0)).results
    # A unit is shown as the field in it that the query names, unless the filter leaves that field out.
    ids = {r.id for r in whole}
    for one in [r for r in got if r.id not in ids]:
        inside = [w for w in whole if w.file == one.file]  # a C struct may have its name behind its fields
        assert any((w.symbol or "").lower() == query.lower() and not passes(w, filters) for w in inside)
    assert len(got) == limit or len(got) >= len(wanted)
    got = [r for r in got if r.id in ids]
    wanted = wanted[: len(got)]
    assert [r.id for r in got] == [name for name, _ in wanted]
    # Behind the pool a score is cut by a millionth, and under a filter the pool reaches further.
    assert [r.mode_score for r in got] == pytest.approx([score for _, score in wanted], rel=1e-5)


@examples(60)
@given(query=st.sampled_from(QUERIES), filters=FILTERS, limit=st.integers(1, 30))
def test_multiview_returns_only_what_passes_and_all_that_its_views_find(
    session: Engine, query: str, filters: Filters, limit: int
) -> None:
    got = session.search(SearchRequest(query, "multiview", EVERYTHING, filters, snippet=0)).results
    assert all(passes(r, filters) for r in got)
    lexical = session.search(SearchRequest(query, "bm25", EVERYTHING, filters, snippet=0)).results
    assert {r.id for r in lexical} <= {r.id for r in got}
    head = session.search(SearchRequest(query, "multiview", limit, filters, snippet=0)).results
    assert head == got[:limit]


@examples(60)
@given(filters=FILTERS)
def test_symbolic_returns_every_symbol_that_passes(session: Engine, filters: Filters) -> None:
    whole = session.search(SearchRequest("*", "symbolic", EVERYTHING, snippet=0)).results
    got = session.search(SearchRequest("*", "symbolic", EVERYTHING, filters, snippet=0)).results
    # `*` and a --name glob are alternatives within one field, so the glob adds nothing to `*`.
    wanted = Filters(lang=filters.lang, kind=filters.kind, path=filters.path, exclude=filters.exclude)
    assert got == tuple(r for r in whole if passes(r, wanted))


def test_a_symbolic_query_is_what_sql_says(session: Engine) -> None:
    got = session.search(SearchRequest("kind:struct name:*e* lang:go", "symbolic", EVERYTHING, snippet=0))
    sql = (
        "SELECT f.path, s.line, s.name FROM symbols s JOIN files f ON f.id = s.file "
        "WHERE s.kind = 'struct' AND s.name GLOB '*e*' AND f.language = 'go' ORDER BY f.path, s.line"
    )
    (shard,) = session.snapshot.shards("symbols")
    with closing(sqlite3.connect(shard)) as database:
        rows = database.execute(sql).fetchall()
    assert rows, "the corpus has such structs"
    assert [(r.file, r.line, r.symbol) for r in got.results] == rows
    assert got.total == len(rows)


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
@pytest.mark.parametrize("query", QUERIES)
def test_the_limit_cuts_and_does_not_rank(session: Engine, mode: str, query: str) -> None:
    long = session.search(SearchRequest(query, mode, 50)).results
    for limit in (1, 5, 20):
        short = session.search(SearchRequest(query, mode, limit))
        assert short.results == long[:limit]
        assert short.has_more == (short.total > len(short.results))


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
@pytest.mark.parametrize("names", [("[",), ("a[b",), ("*" * 60_000,), tuple(f"n{i}" for i in range(5000))])
def test_names_that_sqlite_would_choke_on_are_usage_errors(session: Engine, mode: str, names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        session.search(SearchRequest("Shape", mode, filters=Filters(name=names)))


def test_a_set_in_a_name_is_negated_as_in_a_shell(session: Engine) -> None:
    def names(glob: str) -> set[str | None]:
        found = session.search(SearchRequest("", "symbolic", EVERYTHING, Filters(name=(glob,)), snippet=0)).results
        return {result.symbol for result in found}

    assert names("[!A-Z]*") == {name for name in names("*") if not "A" <= str(name)[0] <= "Z"}
    assert names("[!A-Z]*") == names("[^A-Z]*") != names("*")


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
def test_a_limit_has_no_upper_end(session: Engine, mode: str) -> None:
    query = SearchRequest("name:S*" if mode == "symbolic" else "Shape", mode, 10**30)
    assert session.search(query).results


def test_a_pasted_file_is_a_query(session: Engine) -> None:
    text = " ".join(f"word{i}x" for i in range(40_000)) + " Shape"
    for mode in ("dense", "bm25", "multiview"):
        answer = session.search(SearchRequest(text, mode))
        assert answer.results and not answer.degraded
    with pytest.raises(UsageError):
        session.search(SearchRequest(text, "symbolic"))


RANKED = ["dense", "bm25", "multiview"]
TERMS = {
    "kind:struct": Filters(kind=("struct",)),
    'path:"*.go"': Filters(path=("*.go",)),
    "lang:python name:*e*": Filters(lang=("python",), name=("*e*",)),
    "parent:Store file:store.go": Filters(parent=("Store",), file=("store.go",)),
}


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("terms", TERMS)
def test_a_field_of_a_query_is_a_filter(session: Engine, mode: str, terms: str) -> None:
    by_query = session.search(SearchRequest(f"add an item {terms}", mode, 30, explain=True))
    by_flag = session.search(SearchRequest("add an item", mode, 30, TERMS[terms], explain=True))
    assert by_query.results == by_flag.results != ()
    assert by_query.total == by_flag.total
    assert by_query.plan == by_flag.plan and by_query.plan
    wanted = {name: list(values) for name in Filters.__slots__ if (values := getattr(TERMS[terms], name))}
    assert {name: list(values) for name, values in by_query.plan["filters"].items()} == wanted
    assert by_query.query.endswith(terms)


@pytest.mark.parametrize("mode", RANKED)
def test_a_field_that_does_not_exist_is_text(session: Engine, mode: str) -> None:
    # Of one language, or there are more candidates than a view returns, and a further word may change which.
    plain, odd = (session.search(SearchRequest(f"lang:python add an item {more}", mode)) for more in ("", "zzz:qqq"))
    assert odd.results and odd.total >= plain.total


@pytest.mark.parametrize("mode", RANKED)
def test_a_query_of_fields_alone_is_structural(session: Engine, mode: str) -> None:
    wanted = session.search(SearchRequest("kind:struct lang:go", "symbolic"))
    got = session.search(SearchRequest("kind:struct lang:go", mode))  # type: ignore[arg-type]
    assert got.results == wanted.results != ()


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
def test_a_field_with_a_value_that_nothing_has_is_refused(session: Engine, mode: str) -> None:
    with pytest.raises(UsageError, match="unknown kind 'clas'"):
        session.search(SearchRequest("kind:clas store", mode))  # type: ignore[arg-type]


@pytest.mark.parametrize("phrase", ["return self", "def get", "->", "no such text anywhere"])
def test_a_phrase_keeps_the_same_definitions_in_every_mode(session: Engine, phrase: str) -> None:
    found = {}
    for mode in ("dense", "bm25", "symbolic", "multiview"):
        answer = session.search(SearchRequest(f'kind:method "{phrase}"', mode, EVERYTHING, strict=True))  # type: ignore[arg-type]
        found[mode] = {result.id for result in answer.results}
        assert answer.total == len(answer.results)
        for result in answer.results:
            lines = session.snapshot.reader.some(result.file, result.line, result.end_line)
            assert any(phrase.encode() in line for line in lines)
    assert found["dense"] == found["bm25"] <= found["symbolic"]  # which has those that own no chunk, too
    symbols = session.snapshot.symbols
    owning = {row["id"] for row in symbols.select(Filters(kind=("method",)), EVERYTHING)[0] if row["unit"] is not None}
    assert found["dense"] == found["symbolic"] & owning
    assert found["multiview"] <= found["dense"]  # it ranks only what a view finds
    assert bool(found["dense"]) == (phrase != "no such text anywhere")


def test_a_phrase_does_not_change_the_ranking_of_dense(session: Engine) -> None:
    held = session.search(SearchRequest('"return self"', "dense", EVERYTHING)).results
    free = session.search(SearchRequest("return self", "dense", EVERYTHING)).results
    ids = {result.id for result in held}
    # What a file's other results add to a score differs, and so does the order where that decides.
    assert len(ids) > 1 and [r.mode_score for r in held] == sorted((r.mode_score for r in held), reverse=True)
    assert ids < {result.id for result in free}


def test_the_plan_and_the_explanation_name_the_phrase(session: Engine) -> None:
    for mode in ("dense", "bm25", "symbolic"):
        answer = session.search(SearchRequest('"return self"', mode, explain=True, explain_file="README.md"))  # type: ignore[arg-type]
        assert answer.plan and answer.plan["phrases"] == ["return self"]
        assert answer.explain_file and "quoted words" in answer.explain_file["verdict"]
        assert all(result.explain for result in answer.results)


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
def test_the_order_is_total(session: Engine, mode: str) -> None:
    for query in QUERIES:
        results = session.search(SearchRequest(query, mode, EVERYTHING, snippet=0)).results
        keys = [(-r.mode_score, r.file, r.line) for r in results]
        assert keys == sorted(keys)
        assert len({r.id for r in results}) == len(results)


@pytest.mark.parametrize("filters", [Filters(), Filters(kind=("method", "Class")), Filters(name=("*e*", "r*")),
                                     Filters(kind=("function",), name=("*_*",)), Filters(parent=("*",), lang=("py",))])  # fmt: skip
def test_the_first_symbols_are_the_head_of_all(session: Engine, filters: Filters) -> None:
    """By path and line, whichever files are read for them."""
    symbols = session.snapshot.symbols
    every, total = symbols.select(filters, EVERYTHING)
    places = [(row["file_number"], row["line"], row["symbol_number"]) for row in every]
    assert len(every) == total > 3 and places == sorted(places)
    for limit in (0, 1, 2, total // 2, total - 1, total):
        head, count = symbols.select(filters, limit)
        assert count == total and [row["id"] for row in head] == [row["id"] for row in every[:limit]]
