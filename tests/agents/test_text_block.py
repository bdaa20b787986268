"""The block of instructions in a text: added, brought up to date, shared by agents, and taken out to the byte."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings, strategies as st

from lci_py.agents import text_block
from lci_py.agents.understood import NotUnderstoodError

BODY = "Use lci.\n\n- `lci search`\n"
HEAD = "---\nname: lci\n---\n\n"
TEXTS = st.text(st.sampled_from("# a<!->\n\r\t\ufeffé`"), max_size=20)
NAMES = st.lists(st.sampled_from(["codex", "zed", "agents-md", "vscode"]), min_size=1, max_size=4, unique=True)


@settings(max_examples=300)
@given(TEXTS, NAMES, st.randoms())
@example("", ["zed"], None)
@example("a\r", ["zed"], None)
@example("a\n\r\n", ["zed"], None)
def test_any_text_is_restored(before: str, names: list[str], shuffle: object) -> None:
    """With any number of agents that share the block, whichever of them goes first."""
    text, stages = before, [before]
    for name in names:
        try:
            text = text_block.add(text, name, BODY)
        except NotUnderstoodError as error:
            assert "could not be restored" in error.reason and "\r" in before.replace("\r\n", "")
            return
        assert text_block.add(text, name, BODY) == text
        stages.append(text)
    assert text.startswith(before)
    block = text_block.find(text)
    assert block and block.names == tuple(sorted(names)) and block.body == BODY.strip()
    for name, stage in zip(names[::-1], stages[-2::-1], strict=True):
        text = text_block.remove(text, name) or ""
        assert text == stage
    assert text_block.remove(text, "zed") == text


@given(NAMES)
def test_a_new_file_goes_with_its_last_agent(names: list[str]) -> None:
    text: str | None = None
    for name in names:
        text = text_block.add(text, name, BODY)
    for name in names[:-1]:
        text = text_block.remove(text or "", name)
    assert text
    assert text_block.remove(text, names[-1]) is None
    assert text_block.remove(text + "\n \n", names[-1]) is None
    assert text_block.remove(text + "\nmine\n", names[-1]) == "\nmine\n"


def test_an_older_block_is_brought_up_to_date_where_it_is() -> None:
    old = text_block.add("one\r\ntwo\r\n", "zed", "Old text.") + "\r\nthree\r\n"
    new = text_block.add(old, "zed", BODY)
    assert new == text_block.add("one\r\ntwo\r\n", "zed", BODY) + "\r\nthree\r\n"
    assert "\n" not in new.replace("\r\n", "")


def test_a_block_that_was_copied_from_the_page() -> None:
    text = "# Notes\n\n<!-- lci:start -->\nUse lci.\n<!-- lci:end -->\n"
    block = text_block.find(text)
    assert block and block.names == ("agents-md",) and block.body == "Use lci."
    assert text_block.remove(text, "agents-md") == "# Notes\n"


@pytest.mark.parametrize(
    "text",
    [
        "<!-- lci:start zed -->\n",
        "<!-- lci:end -->\n",
        "<!-- lci:end -->\n<!-- lci:start zed -->\n",
        "<!-- lci:start zed -->\n<!-- lci:end -->\n<!-- lci:start zed -->\n<!-- lci:end -->\n",
        "<!-- lci:start zed -->\n<!-- lci:start zed -->\n<!-- lci:end -->\n",
        "see <!-- lci:start zed -->\n<!-- lci:end -->\n",
        "<!-- lci:start zed -->\n<!-- lci:end --> and more\n",
        "<!-- lci:start Zed! -->\n<!-- lci:end -->\n",
    ],
)
def test_torn_and_repeated_marks(text: str) -> None:
    for act in (
        text_block.find,
        lambda text: text_block.add(text, "zed", BODY),
        lambda text: text_block.remove(text, "zed"),
    ):
        with pytest.raises(NotUnderstoodError, match="remove them by hand") as raised:
            act(text)
        assert raised.value.ours


def test_a_file_of_its_own() -> None:
    made = text_block.add(None, "cursor", BODY, HEAD)
    assert made.startswith(HEAD + "<!-- lci:start cursor")
    assert text_block.remove(made, "cursor", HEAD) is None
    edited = made.replace("name: lci", "name: lci\nglobs: '*.py'")
    assert text_block.remove(edited, "cursor", HEAD) is None
    assert text_block.add(edited, "cursor", "New.", HEAD).startswith("---\nname: lci\nglobs: '*.py'\n---\n\n<!-- lci")
    with pytest.raises(NotUnderstoodError, match="lci has not written it"):
        text_block.add("mine\n", "cursor", BODY, HEAD)
    kept = text_block.remove(made + "\nmine\n", "cursor", HEAD)
    assert kept is not None and kept.endswith("mine\n") and "lci:start" not in kept


def test_a_block_that_was_moved_between_lines() -> None:
    block = "<!-- lci:start zed -->\nUse lci.\n<!-- lci:end -->"
    assert text_block.remove(f"one\n{block}\ntwo\n", "zed") == "one\ntwo\n"
    assert text_block.remove(f"one\n\n{block}\n\ntwo\n", "zed") == "one\n\ntwo\n"
    assert text_block.remove(f"one\n{block}", "zed") == "one\n"


def test_marks_within_a_line_are_no_marks() -> None:
    text = "Between `<!-- lci:start … -->` and `<!-- lci:end -->`.\n"
    assert text_block.find(text) is None
    assert text_block.remove(text_block.add(text, "zed", BODY), "zed") == text
