"""Sentences and lists of items on a terminal: broken between words, never inside one."""

from __future__ import annotations

import pytest

from lci_py.render.text.style import UNICODE, Layout, Style, footer_line, sentence, wrap_items
from lci_py.types.search import IndexInfo

NOTE = (
    "⚠ 10 calls of find_or_create_by without a known target: `lci refs find_or_create_by --role call` lists all calls"
)


def at(width: int | None) -> Layout:
    return Layout(Style(False), UNICODE, width)


def test_a_command_stays_on_one_line() -> None:
    assert list(sentence(NOTE, at(80), "  ")) == [
        "⚠ 10 calls of find_or_create_by without a known target:",
        "  `lci refs find_or_create_by --role call` lists all calls",
    ]
    assert list(sentence(NOTE, at(None), "  ")) == [NOTE]


def test_no_word_of_a_sentence_is_cut() -> None:
    path = "/" + "very/long/" * 12
    assert list(sentence(f"cannot read {path}: `lci {path} x` helps", at(60))) == [
        "cannot read",
        f"{path}:",
        "`lci",
        path,
        "x` helps",
    ]


def test_items_stay_whole() -> None:
    text = "12,982  method 4,771 · function 3,154 · enum member 233 · +5 more"
    assert list(wrap_items(text, at(48), " " * 12, 12)) == [
        "12,982  method 4,771 ·",
        "            function 3,154 · enum member 233 ·",
        "            +5 more",
    ]


@pytest.mark.parametrize("color", [False, True])
def test_a_footer_has_colours_line_by_line(color: bool) -> None:
    layout = Layout(Style(color), UNICODE, 40)
    parts = ["0 callers", "method Relation.find_or_create_by app/models/relation.rb:232"]
    lines = footer_line(parts, IndexInfo(1, "", None, None, 0), layout).split("\n")
    assert lines[0].removeprefix("\x1b[2m").removesuffix("\x1b[0m").startswith("0 callers ·")
    assert len(lines) == 3
    assert all(line.startswith("\x1b[2m") and line.endswith("\x1b[0m") for line in lines) == color
