"""What multiview tries when a query finds nothing, and what it says of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError, UsageError
from lci_py.render.text.results import render
from lci_py.render.text.style import Page
from lci_py.search.engine import Engine
from lci_py.search.retrievers import DenseRetriever, LexicalRetriever, SymbolicRetriever
from lci_py.types.search import Answer, Filters, SearchRequest

CPP = Filters(lang=("cpp",))


def ask(session: Engine, query: str, **options: Any) -> Answer:
    return session.search(SearchRequest(query, options.pop("mode", "multiview"), 50, snippet=200, **options))


def climbed(answer: Answer) -> tuple[Any, tuple[str, ...]]:
    assert answer.plan is not None
    return answer.plan["rung"], answer.plan["relaxed"]


def failing(*_: Any) -> Any:
    raise DamagedIndexError("a test")


def test_a_query_that_finds_something_is_not_relaxed(session: Engine) -> None:
    plain = ask(session, "area of a circle")
    assert climbed(plain) == ("hybrid", ())
    assert plain.plan["ladder"] == ("hybrid", "relaxed_lexical", "dense_only", "degraded")
    narrowed = ask(session, "circle area", filters=CPP)
    assert climbed(narrowed) == ("strict_filter", ())
    assert narrowed.plan["ladder"] == ("strict_filter", "relaxed_lexical", "dense_only", "degraded")


def test_a_phrase_that_stands_nowhere_need_not_stand_together(session: Engine) -> None:
    answer = ask(session, '"circle of an area"')
    rung, (said,) = climbed(answer)
    assert (rung, answer.plan["intent"]) == ("relaxed_lexical", "ambiguous_multiquery")  # its words are a question now
    assert '"circle of an area" does not occur in the repository' in said
    assert answer.results == ask(session, "circle of an area").results
    out = io.StringIO()
    render(answer, Page(out))
    assert f"relaxed: {said}\n" in out.getvalue()


def test_only_the_phrases_that_stand_nowhere_give_way(session: Engine) -> None:
    kept = ask(session, '"Inventory" "no such phrase"')
    assert climbed(kept)[0] == "relaxed_lexical"
    assert [said.split(" does ")[0] for said in climbed(kept)[1]] == ['"no such phrase"']
    assert {r.id for r in kept.results} == {r.id for r in ask(session, '"Inventory"').results}


def test_of_phrases_that_stand_apart_one_is_enough(session: Engine) -> None:
    first, second = "def fetch", "class Service"
    apart = ask(session, f'"{first}" "{second}"')
    rung, (said,) = climbed(apart)
    assert rung == "relaxed_lexical" and "one of them are shown" in said
    alone = [ask(session, f'"{phrase}"') for phrase in (first, second)]
    assert all(answer.results and climbed(answer)[1] == () for answer in alone)
    assert {r.id for r in apart.results} == {r.id for answer in alone for r in answer.results}


def test_a_filter_never_gives_way(session: Engine) -> None:
    answer = ask(session, '"circle of an area"', filters=CPP)
    assert climbed(answer)[0] == "relaxed_lexical"
    assert "does not occur in what passes the filters" in climbed(answer)[1][0]
    assert {r.language for r in answer.results} == {"cpp"}
    nothing = ask(session, '"circle of an area" path:no/such/folder/**')
    assert (nothing.results, climbed(nothing)) == ((), (None, ()))


def test_a_word_that_nothing_has_becomes_the_name_that_it_nearly_is(session: Engine) -> None:
    answer = ask(session, "Inventroy")
    assert climbed(answer) == (
        "relaxed_lexical",
        ("no 'Inventroy'; showing Inventory",),
    )
    assert answer.results == ask(session, "Inventory").results


def test_a_word_that_only_the_filters_keep_out_is_not_replaced(session: Engine) -> None:
    answer = ask(session, "Inventory path:lua/**")
    assert climbed(answer)[0] == "dense_only"
    assert climbed(answer)[1] == ("no word of the query is in what passes the filters: ranked by meaning alone",)


def test_words_that_nothing_has_leave_the_meaning_alone(session: Engine) -> None:
    answer = ask(session, "zqxv wvutq")
    assert climbed(answer) == ("dense_only", ("no word of the query is in the index: ranked by meaning alone",))
    assert {result.mode_source for result in answer.results} == {"dense"}


def test_strict_takes_the_text_as_it_is(session: Engine) -> None:
    phrase = ask(session, '"circle of an area"', strict=True)
    assert (phrase.results, climbed(phrase)) == ((), (None, ()))
    assert phrase.plan["ladder"] == ("hybrid", "dense_only", "degraded")
    assert climbed(ask(session, "Inventroy", strict=True))[0] == "dense_only"


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic"])
def test_a_single_mode_says_what_it_does_not_take_as_written(session: Engine, mode: str) -> None:
    for query, bare in (('"circle of an area"', "circle of an area"), ('the "area of" circle', "the area of circle")):
        answer = ask(session, query, mode=mode)
        assert answer.results == ask(session, bare, mode=mode).results != ()
        assert answer.plan is not None and len(answer.plan["relaxed"]) == 1
        out = io.StringIO()
        render(answer, Page(out))
        assert f"relaxed: {answer.plan['relaxed'][0]}\n" in out.getvalue()
    strict = ask(session, '"circle of an area"', mode=mode, strict=True)
    assert (strict.results, strict.plan) == ((), None)
    there = ask(session, '"class Service"', mode=mode)
    assert there.results and there.plan is None


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
@pytest.mark.parametrize("query", ['"', "->", '""'])
def test_a_query_without_a_word_is_refused_with_a_hint(session: Engine, mode: str, query: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(session, query, mode=mode)
    assert caught.value.hint


def test_multiview_says_that_it_cannot_rank_a_phrase_without_a_word(session: Engine) -> None:
    answer = ask(session, '"=>"')
    assert answer.results == () and "the mode bm25" in climbed(answer)[1][0]
    assert ask(session, '"=>"', mode="bm25").results


def test_a_failed_view_that_could_have_answered_is_named(session: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DenseRetriever, "search", failing)
    nothing = ask(session, "zqxv wvutq")
    assert (nothing.results, climbed(nothing)) == ((), ("degraded", ()))
    assert [entry.view for entry in nothing.degraded] == ["dense"]
    assert climbed(ask(session, "area of a circle"))[0] == "hybrid"


def test_meaning_alone_is_not_put_down_to_the_words_if_they_were_not_looked_up(
    session: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LexicalRetriever, "search", failing)
    monkeypatch.setattr(SymbolicRetriever, "search", failing)
    answer = ask(session, "area of a circle")
    assert climbed(answer) == ("dense_only", ())
    assert [entry.view for entry in answer.degraded] == ["bm25", "symbolic"]


def test_a_word_of_other_files_is_not_taken_for_a_typing_error(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def load():\n    return 'settingz'\n")
    (tmp_path / "b.go").write_text("package b\n\nfunc Settings() int { return 1 }\n")
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        assert climbed(ask(session, "settingz lang:go"))[0] == "dense_only"
        assert climbed(ask(session, "settingk lang:go"))[0] == "relaxed_lexical"
