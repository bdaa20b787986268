"""Rewrites: what is looked up besides the query's own words, and that these count more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.engine import Engine
from lci_py.search.query import rewrites
from lci_py.search.query.plan import intent, plan
from lci_py.search.query.rewrites import MOST, NO_WORDING, Wording, look_up, rewritten
from lci_py.search.query.text import TextQuery, read_text
from lci_py.types.record import replace
from lci_py.types.search import Filters, SearchRequest
from tests.support.graph_repo import build

SOURCES = {
    "app/resolver.py": "class Resolver:\n    def resolve(self, host):\n        return lookup(host)\n",
    "app/negotiate.py": "def negotiate(accepted):\n    return best(accepted)\n",
    "app/config_parser.py": "class ConfigParser:\n    def read(self, cfg: Config, other):\n        return other\n",
    "app/load.py": "def load(cfg: Config):\n    return cfg\n",
    "app/other.py": "def unrelated():\n    accept = parse_config(1)\n    return accept\n",
    "app/wire.py": "def encode(value):\n    return value\n\n\ndef encoder():\n    return encode\n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with app.open_engine(str(build(tmp_path_factory.mktemp("rewrites"), SOURCES))) as opened:
        yield opened


def found_for(session: Engine, query: TextQuery) -> Wording:
    return look_up(query, lambda: session.snapshot.lexical)


def texts(session: Engine, query: str) -> list[str]:
    return [rewrite.text for rewrite in found_for(session, read_text(query)).rewrites]


def ask(session: Engine, query: str, **changes):
    return session.search(replace(SearchRequest(query, "multiview", snippet=0), **changes))


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("name resolution", ["resolution ~ resolver, resolv (morphology)"]),
        ("content negotiation", ["negotiation ~ negotiat (morphology)"]),
        ("zebra crossing", []),
    ],
)
def test_other_wordings_that_the_index_has(session, query, wanted):
    found = texts(session, query)
    assert [text for text in found if text in wanted] == wanted
    assert wanted or not found


def test_what_is_written_as_a_name_or_in_quotes_is_meant(session):
    for query in ("ConfigParser", "NEGOTIATION", '"negotiation"'):
        assert texts(session, query) == []
    assert texts(session, '"accept" negotiation') == texts(session, "negotiation")


def test_the_vocabulary_decides(session):
    assert not any("resolvable" in text or "resolvabl" in text for text in texts(session, "resolution"))


def test_there_are_at_most_three_of_the_rarest_words(session):
    found = texts(session, "encode stored config with negotiation and resolution of hosts")
    assert len(found) == MOST == 3
    assert {text.split(" ~ ")[0] for text in found[:2]} == {"negotiation", "resolution"}  # the index has neither


def test_the_querys_own_terms_stay_and_count_more(session):
    query = read_text("resolver config encoding")
    found = found_for(session, query).rewrites
    changed = rewritten(query, found)
    own = dict(query.terms)
    assert dict(changed.terms).items() >= own.items()
    added = {term: weight for term, weight in changed.terms if term not in own}
    assert set(changed.forms) == set(added) >= {"resolv", "encoder"}
    assert all(0 < weight < min(own.values()) for weight in added.values())
    assert rewritten(query, ()) == query


def test_a_search_finds_by_them_and_says_so(session):
    answer = ask(session, "negotiation")
    assert answer.plan["rewrites"] == ("negotiation ~ negotiat (morphology)",)
    assert answer.results[0].file == "app/negotiate.py"
    best = answer.results[0]
    assert "bm25" in {best.mode_source, *(view for view, _ in best.also_matched)}
    assert ask(session, "negotiation") == answer
    assert ask(session, "parse config").results[0].qualified_name == "ConfigParser"  # aligned, in another form
    assert ask(session, "negotiation", mode="bm25").total == 0  # single modes take a query as it is


def test_without_the_shard_there_are_none(session, monkeypatch):
    def missing(*_: object) -> None:
        raise rewrites.IndexError_("gone")

    monkeypatch.setattr(rewrites, "wording", missing)
    assert found_for(session, read_text("negotiation")) == NO_WORDING


# --- intents ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "fields", "lacking", "wanted"),
    [
        ("ConfigParser", 0, (), "fast_exact"),
        ("get_http sendFile", 0, (), "fast_exact"),
        ("resolver", 0, (), "fast_exact"),
        ('"not found in a long question about what happens"', 0, (), "fast_exact"),
        ("resolver", 0, ("resolver",), "ambiguous_multiquery"),
        ("connection pool", 0, (), "ambiguous_multiquery"),
        ("how is the pool closed", 0, (), "ambiguous_multiquery"),
        ("connection pool sendFile", 0, (), "balanced_hybrid"),
        ("what happens when a pool of connections is closed early", 0, (), "balanced_hybrid"),
        ("what happens when a pool of connections is closed early", 0, ("clos",), "ambiguous_multiquery"),
        ("connection pool", 1, (), "structured_filter_heavy"),
        ("pool", 1, (), "structured_filter_heavy"),
        ("ConfigParser", 1, (), "fast_exact"),
        ("ConfigParser", 2, (), "structured_filter_heavy"),
        ("what happens when a pool of connections is closed early", 1, (), "balanced_hybrid"),
        ("what happens when a pool of connections is closed early", 2, (), "structured_filter_heavy"),
    ],
)
def test_intents(query, fields, lacking, wanted):
    assert intent(read_text(query), fields, lacking) == wanted


def test_the_plan_counts_fields_and_not_their_values(session):
    query = read_text("what happens when a pool of connections is closed early")
    assert plan(query, Filters(lang=("go", "python"))).intent == "balanced_hybrid"
    assert plan(query, Filters(lang=("go",), kind=("class",))).intent == "structured_filter_heavy"
    assert ask(session, "zebra crossing of pool and other words").plan["intent"] == "ambiguous_multiquery"


def test_rewrites_do_not_depend_on_the_segments(tmp_path: Path) -> None:
    grown = tmp_path / "grown"
    grown.mkdir()
    (grown / ".lci.toml").write_text("segment_chunks = 2\n")
    build(
        grown, {path: text for path, text in SOURCES.items() if "r" in path} | {"app/gone.py": "def negotiation(): ..."}
    )
    (grown / "app/gone.py").unlink()
    whole = build(tmp_path / "whole", {".lci.toml": "", **SOURCES})
    with app.open_engine(str(build(grown, SOURCES))) as one, app.open_engine(str(whole)) as other:
        assert len(one.snapshot.manifest.segments) > 1 == len(other.snapshot.manifest.segments)
        for query in ("negotiation of config", "parse config", "name resolution"):
            assert found_for(one, read_text(query)) == found_for(other, read_text(query))
