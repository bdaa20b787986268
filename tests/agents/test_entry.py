"""An entry in a JSON or TOML file: added and removed by its key, and all else stays."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from lci_py.agents.entry import Entry, read_json
from lci_py.agents.safe_files import LeftAloneError
from lci_py.agents.table import BY_NAME
from tests.support.properties import examples

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def entry(agent: str) -> Entry:
    part = next(part for part in BY_NAME[agent].parts if part.kind == "mcp")
    assert part.entry
    return Entry(agent, part.keys, part.entry, toml=part.paths[0].endswith(".toml"))


SERVER, OPENCODE, TOML = entry("claude-code"), entry("opencode"), entry("codex")
TABLE = '[mcp_servers.lci]\ncommand = "lci"\nargs = ["mcp"]'


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A JSON object with comments, trailing commas and any layout; `mcpServers` may be in it, `lci` is not."""
    eol = draw(st.sampled_from(["\n", "\n", "\r\n"]))
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


def blackened(text: str) -> str:
    """What is no blank: comments and all else that somebody has written."""
    return "".join(text.split())


@examples(100)
@given(documents())
@example("{}")
@example("{/* c */}/* , */\n")
@example("{ // c\n}\n")
@example('{"mcpServers": {}}')
@example('{\n  "mcpServers": {\n  }\n}\n')
@example('{\n  "mcpServers": { // none\n  }\n}\n')
@example('{\n  "a": 1, // one\n}')
@example('{"a": 1,}')
@example('{\n  "mcpServers": {\n    "x": {} // last\n  }\n}\n')
def test_any_document_takes_the_entry_and_gives_it_back(before: str) -> None:
    after = SERVER.add(before)
    assert (SERVER.state(before), SERVER.state(after)) == ("absent", "installed")
    old, new = read_json(before), read_json(after)
    assert new["mcpServers"].pop("lci") == SERVER.value
    assert new == {**old, "mcpServers": old.get("mcpServers", {})}
    rest = SERVER.remove(after)
    if rest is None:
        assert not any(old.values()) and "//" not in before and "/*" not in before
        return
    if "mcpServers" not in read_json(rest):
        assert not old.pop("mcpServers", None)
    assert read_json(rest) == old
    if old and (old.get("mcpServers") or "mcpServers" not in read_json(before)):
        assert rest == before  # to the byte, unless an empty object went
    assert blackened(before).count("*") == blackened(rest).count("*")


@examples(80)
@given(
    st.text(st.sampled_from('{}[]",:/*\\\n\r\t a1'), max_size=12), st.sampled_from(["", '{"a": 1', "{", '{"x": {}, '])
)
def test_what_is_no_json_is_left_alone(rest: str, start: str) -> None:
    """Whatever the text is: what an entry is added to can be read, before and after."""
    try:
        after = SERVER.add(start + rest)
    except LeftAloneError:
        return
    assert read_json(after)["mcpServers"]["lci"] == SERVER.value
    SERVER.remove(after)


LCI = json.dumps({"lci": SERVER.value})[1:-1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", f'{{"mcpServers": {{{LCI}}}}}'),
        ('{\n  "a": 1\n}\n', f'{{\n  "mcpServers": {{{LCI}}},\n  "a": 1\n}}\n'),
        ('{ // one\n  "a": 1\n}\n', f'{{ // one\n  "mcpServers": {{{LCI}}},\n  "a": 1\n}}\n'),
        ('{\r\n\t"mcpServers": {\r\n\t\t"x": 1}}', f'{{\r\n\t"mcpServers": {{\r\n\t\t{LCI},\r\n\t\t"x": 1}}}}'),
        ('{"mcpServers": {"x": 1}}', f'{{"mcpServers": {{{LCI}, "x": 1}}}}'),
        ('{"b": {"mcpServers": {}}, "mcpServers": {}}', f'{{"b": {{"mcpServers": {{}}}}, "mcpServers": {{{LCI}}}}}'),
    ],
)
def test_the_entry_comes_first_in_its_object(before: str, after: str) -> None:
    assert SERVER.add(before) == after


@pytest.mark.parametrize(
    ("server", "text", "reason"),
    [
        (SERVER, "", "is empty"),
        (SERVER, "{", "is not valid JSON (line 1"),
        (SERVER, '{"a": 1}}', "is not valid JSON"),
        (SERVER, '{"a": 1,, }', "is not valid JSON"),
        (SERVER, "{,}", "is not valid JSON"),
        (SERVER, '{"a": [,]}', "is not valid JSON"),
        (SERVER, '{"a": NaN}', "is not valid JSON"),
        (SERVER, '{"a /* \n */ ": 1}', "is not valid JSON"),
        (SERVER, "{'a': 1}", "is not valid JSON"),
        (SERVER, "[" * 100_000, "is not valid JSON"),
        (SERVER, "/*" * 500_000, "is not valid JSON"),
        (SERVER, '"\\' * 500_000, "is not valid JSON"),
        (SERVER, "[]", "is no JSON object"),
        (SERVER, '{"mcpServers": []}', "mcpServers is not an object"),
        (SERVER, '{"mcpServers": null}', "mcpServers is not an object"),
        (SERVER, '{"mcpServers": {"lci": {"command": "other"}}}', "lci in mcpServers does not start lci"),
        (TOML, "a = ", "is not valid TOML"),
        (TOML, "mcp_servers = 1", "mcp_servers is not a table"),
        (TOML, 'mcp_servers.lci = "x"', "lci in mcp_servers does not start lci"),
        (TOML, '[mcp_servers.lci]\nurl = "x"', "lci in mcp_servers does not start lci"),
    ],
)
def test_what_is_not_understood(server: Entry, text: str, reason: str) -> None:
    with pytest.raises(LeftAloneError) as raised:
        server.state(text)
    assert raised.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("server", "value"),
    [
        (SERVER, {"command": "/usr/bin/lci", "args": ["mcp", "--tools", "all"]}),
        (SERVER, {**SERVER.value, "env": {"LCI_JOBS": "2"}}),
        (OPENCODE, {"type": "local", "command": ["lci", "mcp"], "enabled": False}),
    ],
)
def test_an_entry_that_somebody_has_changed(server: Entry, value: Any) -> None:
    assert server.state(json.dumps({server.keys[0]: {"lci": value}})) == "custom"


def test_an_entry_that_an_agent_has_written() -> None:
    """`claude mcp add -s project lci -- lci mcp` adds an empty member."""
    text = json.dumps({"mcpServers": {"x": 1, "lci": {**SERVER.value, "env": {}}}}, indent=2)
    assert SERVER.state(text) == "installed"
    assert SERVER.remove(text) == json.dumps({"mcpServers": {"x": 1}}, indent=2)


def test_a_new_file_goes_again_even_if_it_was_formatted_anew() -> None:
    made = OPENCODE.add(None)
    assert json.loads(made) == {"mcp": {"lci": OPENCODE.value}}
    for text in (made, json.dumps(json.loads(made), indent=4), json.dumps(json.loads(made))):
        assert OPENCODE.remove(text) is None


def test_what_others_have_added_stays() -> None:
    made = json.loads(SERVER.add(None))
    made["mcpServers"] = {"before": 1, **made["mcpServers"], "after": 2}
    for indent in (None, 2):
        rest = SERVER.remove(json.dumps(made, indent=indent))
        assert rest == json.dumps({"mcpServers": {"before": 1, "after": 2}}, indent=indent)
    formatted = json.dumps({"lci": SERVER.value}, indent=4)[1:-1]
    commented = f'{{\n  "mcpServers": {{{formatted}, // c\n    "x": 2\n  }}\n}}'
    assert SERVER.remove(commented) == '{\n  "mcpServers": {\n    // c\n    "x": 2\n  }\n}'
    noted = SERVER.add(None).replace("{", "{ // mine", 1)
    assert SERVER.remove(noted) == "{ // mine\n}\n"


def test_what_would_change_its_meaning_is_refused() -> None:
    twice = f'{{"mcpServers": {{"x": 1, {LCI}, {LCI}}}}}'
    noted = SERVER.add("{}").replace('"args"', '/* mine */ "args"')
    for text in (twice, noted):
        with pytest.raises(LeftAloneError, match="only be edited by hand") as raised:
            SERVER.remove(text)
        assert raised.value.ours


# --- TOML ---------------------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    ["", "# [mcp_servers.lci]", 'model = "x"', "[a]", "[[b]]", "x = [\n  1, # one\n]", "[mcp_servers.other]"]
    + ["s = '''\nlci\n'''", "[mcp_servers]", "  ", 'command = "lci"']
)


@examples(150)
@given(
    st.lists(LINES, min_size=1, max_size=5, unique=True), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans()
)
@example(["[mcp_servers]"], "\n", False, True)
def test_any_toml_document_is_restored(lines: list[str], eol: str, ended: bool, marked: bool) -> None:
    before = "\ufeff" * marked + eol.join(line.replace("\n", eol) for line in lines) + eol * ended
    try:
        old = tomllib.loads(before.removeprefix("\ufeff"))
    except ValueError:
        with pytest.raises(LeftAloneError, match="is not valid TOML"):
            TOML.state(before)
        return
    after = TOML.add(before)
    assert TOML.state(after) == "installed" and after.startswith(before)
    new = tomllib.loads(after.removeprefix("\ufeff"))
    assert new["mcp_servers"].pop("lci") == TOML.value
    assert new == {**old, "mcp_servers": old.get("mcp_servers", {})}
    assert TOML.remove(after) == (before if before.strip() else None)


def test_a_new_toml_file() -> None:
    made = TOML.add(None)
    assert made == f"# lci:start codex: kept by `lci agent`, edits are lost\n{TABLE}\n# lci:end\n"
    assert TOML.remove(made) is None


@pytest.mark.parametrize("more", ['\nenv = {A = "b"}', "\nstartup_timeout_sec = 20\n[mcp_servers.lci.env]\nA = 'b'"])
def test_a_table_that_somebody_has_changed(more: str) -> None:
    assert TOML.state(f"a = 1\n\n{TABLE}{more}\n") == "custom"


def test_servers_that_are_written_in_another_way() -> None:
    with pytest.raises(LeftAloneError, match="only be edited by hand"):
        TOML.add('mcp_servers = {other = {command = "x"}}\n')
    for text in ('mcp_servers.lci = {command = "lci", args = ["mcp"]}\n', f"a = 1\n\n{TABLE}\n"):
        assert TOML.state(text) == "installed"
        with pytest.raises(LeftAloneError, match="only be edited by hand"):
            TOML.remove(text)


def test_the_table_in_a_text_is_no_table() -> None:
    quoted = f"s = '''\n{TOML.add(None)}'''\n"
    assert TOML.state(quoted) == "absent"
    with pytest.raises(LeftAloneError, match="only be edited by hand"):
        TOML.add(quoted)
