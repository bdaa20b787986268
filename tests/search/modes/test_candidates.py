"""A filter means the same in every mode: the head under a filter is the head of the filtered ranking."""

from __future__ import annotations

import fnmatch
import sqlite3
from contextlib import closing
from unittest.mock import patch

import pytest
from hypothesis import given, settings, strategies as st

from lci_py.errors import UsageError
from lci_py.search.engine import Engine
from lci_py.search.modes import single
from lci_py.search.ranking import bm25_evidence, same_file
from lci_py.types.search import Filters, Result, SearchRequest

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


@settings(max_examples=120, deadline=None)
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
        patch.object(bm25_evidence, "POOL", EVERYTHING),
        patch.object(same_file, "SAME_FILE", 1.0),
        patch.object(bm25_evidence, "SAME_FILE", 1.0),
        patch.object(same_file, "FILE", 0.0),
        patch.object(bm25_evidence, "FILE", 0.0),
    ):
        whole = session.search(SearchRequest(query, mode, EVERYTHING, snippet=0)).results
        wanted = [(r.id, r.mode_score) for r in whole if passes(r, filters)][:limit]
        got = session.search(SearchRequest(query, mode, limit, filters, snippet=0)).results
    assert [r.id for r in got] == [name for name, _ in wanted]
    # Behind the pool a score is cut by a millionth, and under a filter the pool reaches further.
    assert [r.mode_score for r in got] == pytest.approx([score for _, score in wanted], rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(query=st.sampled_from(QUERIES), filters=FILTERS, limit=st.integers(1, 30))
def test_multiview_returns_only_what_passes_and_all_that_its_views_find(
    session: Engine, query: str, filters: Filters, limit: int
) -> None:
    got = session.search(SearchRequest(query, "multiview", EVERYTHING, filters, snippet=0)).results
    assert all(passes(r, filters) for r in got)
    bm25_evidence = session.search(SearchRequest(query, "bm25", EVERYTHING, filters, snippet=0)).results
    assert {r.id for r in bm25_evidence} <= {r.id for r in got}
    head = session.search(SearchRequest(query, "multiview", limit, filters, snippet=0)).results
    assert head == got[:limit]


@settings(max_examples=60, deadline=None)
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


def test_a_field_of_a_multiview_query_can_be_quoted(session: Engine) -> None:
    plain = session.search(SearchRequest("path:*.go store", "multiview"))
    quoted = session.search(SearchRequest('path:"*.go" store', "multiview"))
    assert quoted.results == plain.results != ()


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
def test_the_order_is_total(session: Engine, mode: str) -> None:
    for query in QUERIES:
        results = session.search(SearchRequest(query, mode, EVERYTHING, snippet=0)).results
        keys = [(-r.mode_score, r.file, r.line) for r in results]
        assert keys == sorted(keys)
        assert len({r.id for r in results}) == len(results)
