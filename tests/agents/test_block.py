"""The block of instructions in a text: added, brought up to date, shared by agents, and taken out to the byte."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from lci_py.agents.block import Block, find
from lci_py.agents.safe_files import LeftAloneError
from tests.support.properties import examples

BODY = "Use lci.\n\n- `lci search`\n"
HEAD = "---\nname: lci\n---\n\n"
TEXTS = st.lists(st.sampled_from([*"# a<!->\n\t\ufeffé`", "\r\n"]), max_size=20).map("".join)
NAMES = st.lists(st.sampled_from(["codex", "zed", "agents-md", "vscode"]), min_size=1, max_size=4, unique=True)


@examples(300)
@given(TEXTS, NAMES)
@example("", ["zed"])
@example("a\n\r\n", ["zed"])
def test_any_text_is_restored(before: str, names: list[str]) -> None:
    """With any number of agents that share the block, whichever of them goes first."""
    text, stages = before, [before]
    for name in names:
        text = Block(name, BODY).add(text)
        assert Block(name, BODY).add(text) == text
        stages.append(text)
    assert text.startswith(before)
    block = find(text)
    assert block and block.names == tuple(sorted(names)) and block.body == BODY.strip()
    for name, stage in zip(names[::-1], stages[-2::-1], strict=True):
        text = Block(name, BODY).remove(text) or ""
        assert text == (stage if stage.strip() else "")  # a file with nothing else in it goes
    assert Block("zed", BODY).remove(text) == text


@given(NAMES)
def test_a_new_file_goes_with_its_last_agent(names: list[str]) -> None:
    text: str | None = None
    for name in names:
        text = Block(name, BODY).add(text)
    for name in names[:-1]:
        text = Block(name, BODY).remove(text or "")
    assert text
    assert Block(names[-1], BODY).remove(text) is None
    assert Block(names[-1], BODY).remove(text + "\n \n") is None
    assert Block(names[-1], BODY).remove(text + "\nmine\n") == "\nmine\n"


def test_an_older_block_is_brought_up_to_date_where_it_is() -> None:
    old = Block("zed", "Old text.").add("one\r\ntwo\r\n") + "\r\nthree\r\n"
    new = Block("zed", BODY).add(old)
    assert new == Block("zed", BODY).add("one\r\ntwo\r\n") + "\r\nthree\r\n"
    assert "\n" not in new.replace("\r\n", "")


def test_a_block_that_was_copied_from_the_page() -> None:
    text = "# Notes\n\n<!-- lci:start -->\nUse lci.\n<!-- lci:end -->\n"
    block = find(text)
    assert block and block.names == ("agents-md",) and block.body == "Use lci."
    assert Block("agents-md", BODY).remove(text) == "# Notes\n"


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
        find,
        lambda text: Block("zed", BODY).add(text),
        lambda text: Block("zed", BODY).remove(text),
    ):
        with pytest.raises(LeftAloneError, match="remove them by hand") as raised:
            act(text)
        assert raised.value.ours


def test_a_file_of_its_own() -> None:
    made = Block("cursor", BODY, HEAD).add(None)
    assert made.startswith(HEAD + "<!-- lci:start cursor")
    assert Block("cursor", BODY, HEAD).remove(made) is None
    edited = made.replace("name: lci", "name: lci\nglobs: '*.py'")
    assert Block("cursor", BODY, HEAD).remove(edited) is None
    assert Block("cursor", "New.", HEAD).add(edited).startswith("---\nname: lci\nglobs: '*.py'\n---\n\n<!-- lci")
    with pytest.raises(LeftAloneError, match="lci did not write it"):
        Block("cursor", BODY, HEAD).add("mine\n")
    kept = Block("cursor", BODY, HEAD).remove(made + "\nmine\n")
    assert kept is not None and kept.endswith("mine\n") and "lci:start" not in kept


def test_a_block_that_was_moved_between_lines() -> None:
    block = "<!-- lci:start zed -->\nUse lci.\n<!-- lci:end -->"
    assert Block("zed", BODY).remove(f"one\n{block}\ntwo\n") == "one\ntwo\n"
    assert Block("zed", BODY).remove(f"one\n\n{block}\n\ntwo\n") == "one\n\ntwo\n"
    assert Block("zed", BODY).remove(f"one\n{block}") == "one\n"


def test_marks_within_a_line_are_no_marks() -> None:
    text = "Between `<!-- lci:start … -->` and `<!-- lci:end -->`.\n"
    assert find(text) is None
    assert Block("zed", BODY).remove(Block("zed", BODY).add(text)) == text
