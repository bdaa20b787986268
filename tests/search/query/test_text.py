"""What a query says: its fields, its phrases, and the text that is left."""

from __future__ import annotations

import pytest

from lci_py.errors import UsageError
from lci_py.search.query.text import read_fields, read_symbolic, read_text
from lci_py.types.search import Filters


@pytest.mark.parametrize(
    ("query", "text", "filters"),
    [
        ("kind:class store", "store", Filters(kind=("class",))),
        ('store path:"a b/*.py"', "store", Filters(path=("a b/*.py",))),
        ("lang:go lang:c", "", Filters(lang=("go", "c"))),
        ("foo:bar std::move a:b", "foo:bar std::move a:b", Filters()),
        ("xkind:class (kind:class)", "xkind:class (kind:class)", Filters()),
        ('"set name:x here"', '"set name:x here"', Filters()),
        ('"set name:x here" name:y', '"set name:x here"', Filters(name=("y",))),
        ('foo:"kind:class of"', 'foo:"kind:class of"', Filters()),
        ("what kind: of thing", "what kind: of thing", Filters()),
    ],
)
def test_fields_of_a_query_that_is_ranked(query: str, text: str, filters: Filters) -> None:
    assert read_fields(query, Filters()) == (text, filters)


def test_fields_and_flags_are_alternatives_of_one_field() -> None:
    assert read_fields("kind:class x", Filters(kind=("struct",)))[1] == Filters(kind=("struct", "class"))


def test_phrases_are_read_alike() -> None:
    query = 'kind:function "a b" "c:d"'
    assert read_symbolic(query, Filters()) == (Filters(kind=("function",)), ("a b", "c:d"), ())
    assert read_text(read_fields(query, Filters())[0]).phrases == ("a b", "c:d")


def test_quotes_amid_other_words_count_as_words() -> None:
    ranked, listed = read_text('cannot open "a/b.toml"'), read_symbolic('open "a b" kind:method', Filters())
    assert (ranked.phrases, ranked.words) == ((), ("cannot", "open", "a", "b", "toml"))
    assert (listed.phrases, listed.filters) == ((), Filters(name=("open", "a", "b"), kind=("method",)))
    assert ranked.relaxed == listed.relaxed != ()
    punctuated = read_text('"a b" -> "c"')
    assert (punctuated.phrases, punctuated.relaxed) == (("a b", "c"), ())


def test_a_long_phrase_alone_is_a_phrase() -> None:
    text = "word " * 31
    assert read_text(f'"{text}"').phrases == (text,)
    assert read_text(f'x "{text}"').phrases == ()


@pytest.mark.parametrize("query", ["foo:bar", 'name:""', '""', '" "'])
def test_a_symbolic_query_that_says_nothing_is_refused(query: str) -> None:
    with pytest.raises(UsageError):
        read_symbolic(query, Filters())
