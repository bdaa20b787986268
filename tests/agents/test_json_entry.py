"""An entry in a JSON file with comments: written in the file's own style, and taken out again to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from lci_py.agents import json_entry
from lci_py.agents.known import BY_NAME
from lci_py.agents.server import Server
from lci_py.agents.understood import NotUnderstoodError

SERVER = BY_NAME["claude-code"].server
OPENCODE = BY_NAME["opencode"].server
assert SERVER and OPENCODE
EOL = st.sampled_from(["\n", "\n", "\r\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A JSON object with comments, trailing commas and any layout; `mcpServers` may be in it, `lci` is not."""
    eol = draw(EOL)
    spaces = st.sampled_from(
        ["", "", " ", "  ", "\t", eol, f"{eol}  ", f"{eol}\t", f" {eol}    ", f"{eol}{eol}", "/* c */", f"/*{eol}*/"]
        + [f" // c{eol}", f' // "a": {{,{eol}    ', f"/* , */{eol}"]
    )

    def space() -> str:
        return draw(spaces)

    def whole(open_: str, close: str, items: list[str]) -> str:
        out = open_ + space()
        for i, item in enumerate(items):
            last = i == len(items) - 1
            comma = "," if not last or draw(st.booleans()) else ""
            out += item + (space() + comma if comma else "") + space()
        return out + close

    def value(depth: int) -> str:
        kind = draw(st.integers(0, 5 if depth else 3))
        if kind == 4:
            return whole("[", "]", [value(depth - 1) for _ in range(draw(st.integers(0, 2)))])
        if kind == 5:
            return obj(depth - 1, draw(st.lists(st.sampled_from(["a", "b//", 'q"', "é"]), max_size=2, unique=True)))
        return [json.dumps(draw(st.text(max_size=4))), "-1.5e3", "null", '"\\u006cci"'][kind]

    def obj(depth: int, keys: list[str]) -> str:
        items = []
        for key in keys:
            inner = obj(depth, draw(st.lists(st.sampled_from(["x", "y"]), max_size=2, unique=True)))
            items.append(json.dumps(key) + space() + ":" + space() + (inner if key == "mcpServers" else value(depth)))
        return whole("{", "}", items)

    keys = draw(st.lists(st.sampled_from(["mcpServers", "a", "/*", "c"]), max_size=3, unique=True))
    return draw(st.sampled_from(["", "\ufeff"])) + space() + obj(2, keys) + space()


def parsed(text: str) -> dict[str, Any]:
    return json_entry.value(text)


@settings(max_examples=40)
@given(documents())
@example("{}")
@example("{/* c */}/* , */\n")
@example("{\n}\n")
@example('{"mcpServers": {}}')
@example('{\n  "mcpServers": {\n  }\n}\n')
@example('{\n  "a": 1, // one\n}')
@example('{\n  "mcpServers": {\n    "x": {} // last\n  }\n}\n')
def test_any_document_is_restored(before: str) -> None:
    after = json_entry.add(before, SERVER)
    assert json_entry.state(before, SERVER) == "absent"
    assert json_entry.state(after, SERVER) == "installed"
    rest = parsed(after)
    servers = rest["mcpServers"]
    assert servers.pop("lci") == SERVER.value
    if not servers and "mcpServers" not in parsed(before):
        del rest["mcpServers"]
    assert rest == parsed(before) and list(rest) == list(parsed(before))
    assert json_entry.remove(after, SERVER) == before
    assert after.count("\r\n") - before.count("\r\n") in (0, after.count("\n") - before.count("\n"))


@settings(max_examples=80)
@given(
    st.text(st.sampled_from('{}[]",:/*\\\n\r\t a1'), max_size=12), st.sampled_from(["", '{"a": 1', "{", '{"x": {}, '])
)
def test_what_is_no_json_is_left_alone(rest: str, start: str) -> None:
    """Whatever the text is: an entry that is added can be taken out again."""
    text = start + rest
    try:
        after = json_entry.add(text, SERVER)
    except NotUnderstoodError:
        return
    assert json_entry.remove(after, SERVER) == text


@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_the_entry_has_the_indentation_of_the_file(indent: Any) -> None:
    other = {"command": "npx", "env": {"A": "b"}}
    before = json.dumps({"theme": "x", "mcpServers": {"other": other}}, indent=indent)
    wanted = json.dumps({"theme": "x", "mcpServers": {"other": other, "lci": SERVER.value}}, indent=indent)
    level = indent if isinstance(indent, str) else " " * indent
    wanted = wanted.replace(f'[\n{level * 4}"mcp"\n{level * 3}]', '["mcp"]')
    assert json_entry.add(before, SERVER) == wanted
    alone = json.dumps({"theme": "x"}, indent=indent)
    assert json_entry.add(alone, SERVER).startswith(
        f'{{\n{level}"theme": "x",\n{level}"mcpServers": {{\n{level * 2}"lci"'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "mcpServers": {\n    "lci": {\n'),
        ('{\n  "a": 1, // one\n}\n', '{\n  "a": 1, // one\n  "mcpServers": {\n    "lci": {\n'),
        ('{"mcpServers": {}}', '{"mcpServers": {"lci": {"type"'),
        ('{"mcpServers": {"a": 1}}', '{"mcpServers": {"a": 1, "lci": {"type"'),
        ("{}", '{"mcpServers": { "lci": { "type"'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"mcpServers": {\r\n\t\t"lci": {\r\n'),
    ],
)
def test_layouts(before: str, after: str) -> None:
    assert json_entry.add(before, SERVER).startswith(after)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("{", "is not valid JSON (line 1"),
        ('{"a": 1}}', "is not valid JSON"),
        ('{"a": 1,, }', "is not valid JSON"),
        ("{,}", "is not valid JSON"),
        ('{"a": [,]}', "is not valid JSON"),
        ('{"a": NaN}', "is not valid JSON"),
        ('{"a /* \n */ ": 1}', "is not valid JSON"),
        ("{'a': 1}", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[]", "is no JSON object"),
        ('{"mcpServers": []}', "mcpServers is no object"),
        ('{"mcpServers": null}', "mcpServers is no object"),
        ('{"mcpServers": {}, "mcp\\u0053ervers": {}}', "mcpServers stands in it 2 times"),
        ('{"mcpServers": {"lci": 1, "lci": 2}}', "lci stands in it 2 times"),
        ('{"mcpServers": {"lci": {"command": "other"}}}', "lci in mcpServers is something else"),
    ],
)
def test_what_is_not_understood(text: str, reason: str) -> None:
    with pytest.raises(NotUnderstoodError) as raised:
        json_entry.state(text, SERVER)
    assert raised.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("server", "value"),
    [
        (SERVER, {"command": "/usr/bin/lci", "args": ["mcp", "--tools", "all"]}),
        (SERVER, {**SERVER.value, "env": {"LCI_JOBS": "2"}}),
        (OPENCODE, {"type": "local", "command": ["lci", "mcp"], "enabled": False}),
    ],
)
def test_an_entry_that_somebody_has_changed(server: Server, value: Any) -> None:
    assert json_entry.state(json.dumps({server.parent: {"lci": value}}), server) == "custom"


def test_an_entry_that_an_agent_has_written() -> None:
    """`claude mcp add -s project lci -- lci mcp` adds an empty member."""
    text = json.dumps({"mcpServers": {"x": 1, "lci": {**SERVER.value, "env": {}}}}, indent=2)
    assert json_entry.state(text, SERVER) == "installed"
    assert parsed(json_entry.remove(text, SERVER) or "") == {"mcpServers": {"x": 1}}


def test_a_new_file_goes_again_even_if_it_was_formatted_anew() -> None:
    made = json_entry.add(None, OPENCODE)
    assert json.loads(made) == {"$schema": "https://opencode.ai/config.json", "mcp": {"lci": OPENCODE.value}}
    assert json_entry.remove(made, OPENCODE) is None
    assert json_entry.remove(json.dumps(json.loads(made), indent=4), OPENCODE) is None


def test_what_others_have_added_stays() -> None:
    made = json.loads(json_entry.add(None, SERVER))
    made["mcpServers"] = {"before": 1, **made["mcpServers"], "after": 2}
    for text in (json.dumps(made), json.dumps(made, indent=2)):
        rest = json_entry.remove(text, SERVER)
        assert rest is not None
        assert json.loads(rest) == {"mcpServers": {"before": 1, "after": 2}}
    commented = '{\n  "mcpServers": {\n    "lci": 1 /* mine */, // c\n    "x": 2\n  }\n}'
    assert parsed(json_entry.remove(commented, SERVER) or "") == {"mcpServers": {"x": 2}}


def test_a_comment_in_a_file_that_lci_has_made_stays() -> None:
    made = json_entry.add(None, SERVER)
    assert json_entry.remove(made.replace("{", "{ // mine", 1), SERVER) == "{ // mine\n}\n"
