"""lci's member of an object in a JSON file, added and removed as text.

The file may have comments and trailing commas. Everything else of it stays as it is, to the byte, and the way in which
the member is written tells what was there before:

- on several lines, or with a space inside its braces: the object around it was made for it as well;
- as `{"command": …}`: that object was there, and empty.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.agents.lines import end_of_line
from lci_py.agents.server import Server, differs, runs_lci, same
from lci_py.agents.understood import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TOKEN = re.compile(r'"(?:[^"\\\r\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\],]', re.DOTALL)
#: What may follow on the same line: blanks, then a comment that ends on it.
_REST_OF_LINE = re.compile(r"(?:[ \t]*(?:/\*(?:(?!\*/)[^\r\n])*\*/|//[^\r\n]*))*[ \t]*(?=\r?\n)")
_SPACE = " \t\r\n"


class _Member(NamedTuple):
    key: str
    start: int  # of the key
    value: int  # where the value begins
    end: int  # of the value
    comma: int | None  # the one that follows


class _Object(NamedTuple):
    start: int  # the offset behind its opening brace
    end: int  # that of its closing brace
    members: tuple[_Member, ...]


def shown(server: Server) -> str:
    """The entry on one line, with what is around it."""
    return json.dumps({server.parent: {server.name: dict(server.value)}})


def value(text: str) -> dict[str, Any]:
    """What the file holds.

    Raises:
        NotUnderstoodError: It is not valid JSON, or no object.
    """
    return _Document(text).found


def state(text: str, server: Server) -> str:
    """absent, installed, or custom: it starts `lci mcp`, and is not as lci writes it.

    Raises:
        NotUnderstoodError: The file is not valid JSON, is of another shape, or has something else by this name.
    """
    document = _Document(text)
    servers = document.servers(server)
    if servers is None or document.member(servers, server.name) is None:
        return "absent"
    found = document.found[server.parent][server.name]
    if same(found, server.value):
        return "installed"
    if runs_lci(found):
        return "custom"
    raise differs(server)


def add(text: str | None, server: Server) -> str:
    """The text with the entry, in the file's own style.

    Raises:
        NotUnderstoodError: It is of another shape, or the entry could not be taken out again without a trace.
    """
    if text is None:
        return _expanded(_made(server), "", "  ", "\n") + "\n"
    document = _Document(text)
    servers = document.servers(server)
    wanted = {**document.found, server.parent: {**document.found.get(server.parent, {}), server.name: server.value}}
    for new in _ways(document, servers, server):
        if _Document(new).found == wanted and remove(new, server) == text:
            return new
    raise NotUnderstoodError("its layout could not be restored afterwards")


def remove(text: str, server: Server) -> str | None:
    """The text without the entry, and without the object around it if that was made for it; None if the file was.

    Raises:
        NotUnderstoodError: see `state`.
    """
    document = _Document(text)
    servers = document.servers(server)
    entry = document.member(servers, server.name) if servers else None
    if servers is None or entry is None:
        return text
    written = text[entry.value : entry.end]
    if len(servers.members) > 1 or written.startswith('{"'):
        return document.without(servers, entry)
    if "\n" in written and document.found == _made(server) and not document.comments:
        return None
    around = document.member(document.top, server.parent)
    return document.without(document.top, around) if around else text


def _made(server: Server) -> dict[str, Any]:
    """What a file holds that lci makes."""
    return {**server.top, server.parent: {server.name: dict(server.value)}}


def _ways(document: _Document, servers: _Object | None, server: Server) -> Iterator[str]:
    """The text with the entry, in the ways that come into question; the best first."""
    unit, eol = document.unit(), end_of_line(document.text)
    value = dict(server.value)
    if servers is None:
        where, key, new = document.top, server.parent, {server.name: value}
        forms = [_expanded(new, unit, unit, eol), _spaced(new)]
    else:
        where, key = servers, server.name
        forms = [json.dumps(value)]
        if servers.members:
            forms.insert(0, _expanded(value, document.indent(servers) or unit * 2, unit, eol))
    for form in forms:
        yield from document.with_member(where, f"{json.dumps(key)}: {form}", unit * (1 if servers is None else 2))


def _expanded(value: object, indent: str, unit: str, eol: str) -> str:
    """JSON with each member of an object on a line of its own."""
    if not isinstance(value, dict):
        return json.dumps(value)
    inner = indent + unit
    rows = [f"{inner}{json.dumps(key)}: {_expanded(item, inner, unit, eol)}" for key, item in value.items()]
    return "{" + eol + f",{eol}".join(rows) + eol + indent + "}"


def _spaced(value: object) -> str:
    """JSON on one line, with spaces inside the braces."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{ " + ", ".join(f"{json.dumps(key)}: {_spaced(item)}" for key, item in value.items()) + " }"


class _Document:
    """A JSON text, its value, and where the members of its objects are."""

    def __init__(self, text: str) -> None:
        """
        Raises:
            NotUnderstoodError: It is not valid, or no object.
        """
        self.text = text
        tokens = list(_TOKEN.finditer(text))
        self._tokens = [token for token in tokens if token[0][0] != "/"]
        bare = [" " if text.startswith("\ufeff") else text[:1], *text[1:]]
        self.comments = len(tokens) > len(self._tokens)
        if self.comments:
            for token in tokens:
                if token[0][0] == "/":  # an end of line in it stays: a text over two lines is no JSON
                    bare[token.start() : token.end()] = [char if char in "\r\n" else " " for char in token[0]]
        self._bare = "".join(bare)
        self.found = self._parse(self._without_trailing_commas())
        self._closers = self._match()
        self.top = self._object(0)

    def servers(self, server: Server) -> _Object | None:
        """The object that holds the servers, None if there is none.

        Raises:
            NotUnderstoodError: It is no object, or there are several.
        """
        around = self.member(self.top, server.parent)
        if around is None:
            return None
        if not isinstance(self.found[server.parent], dict):
            raise NotUnderstoodError(f"{server.parent} is no object")
        at = next(i for i, token in enumerate(self._tokens) if token.start() == around.value)
        servers = self._object(at)
        self.member(servers, server.name)
        return servers

    def member(self, where: _Object, key: str) -> _Member | None:
        """The member with this key, None if there is none.

        Raises:
            NotUnderstoodError: There are several.
        """
        found = [member for member in where.members if member.key == key]
        if len(found) > 1:
            raise NotUnderstoodError(f"{key} stands in it {len(found)} times")
        return found[0] if found else None

    def indent(self, where: _Object) -> str | None:
        """What stands before the last member on its line; None if that is not blank."""
        return self._before(where.members[-1]) if where.members else None

    def unit(self) -> str:
        """What a level is indented by."""
        return (self._before(self.top.members[0]) if self.top.members else None) or "  "

    def with_member(self, where: _Object, member: str, indent: str) -> Iterator[str]:
        """The text with another member at the end of an object: on a line of its own if the last one is."""
        text, eol = self.text, end_of_line(self.text)
        if not where.members:
            rest = _REST_OF_LINE.match(text, where.start)
            if rest:
                yield f"{text[: rest.end()]}{eol}{indent}{member}{text[rest.end() :]}"
            elif "\n" not in member:
                yield text[: where.start] + member + text[where.start :]
            return
        last = where.members[-1]
        behind = last.end if last.comma is None else last.comma + 1
        head, comma = (text[: last.end] + ",", "") if last.comma is None else (text[:behind], ",")
        own = self._before(last)
        rest = _REST_OF_LINE.match(text, behind)
        if own is not None and rest:
            yield f"{head}{text[behind : rest.end()]}{eol}{own}{member}{comma}{text[rest.end() :]}"
        elif own is not None:
            yield f"{head}{eol}{own}{member}{comma}{text[behind:]}"
        elif "\n" not in member:
            yield f"{head} {member}{comma}{text[behind:]}"

    def without(self, where: _Object, member: _Member) -> str:
        """The text without a member of an object, with the comma that goes with it."""
        text = self.text
        place = where.members.index(member)
        previous = where.members[place - 1] if place else None
        start, end = member.start, member.end
        own = self._before(member)
        if own is not None:
            start -= len(own)
            start -= 2 if text[:start].endswith("\r\n") else 1
        elif previous and text[start - 1] == " ":
            start -= 1
        if member.comma is not None:
            if text[end : member.comma].strip(_SPACE):  # a comment stands between: it stays
                return text[:start] + text[end : member.comma] + text[member.comma + 1 :]
            return text[:start] + text[member.comma + 1 :]
        if previous and previous.comma is not None:
            return text[: previous.comma] + text[previous.comma + 1 : start] + text[end:]
        return text[:start] + text[end:]

    def _before(self, member: _Member) -> str | None:
        start = member.start
        while start and self.text[start - 1] in " \t":
            start -= 1
        return self.text[start : member.start] if start and self.text[start - 1] == "\n" else None

    def _without_trailing_commas(self) -> str:
        bare, tokens, parts, at = self._bare, self._tokens, [], 0
        for i in range(1, len(tokens) - 1):
            if (
                tokens[i][0] == ","
                and tokens[i + 1][0] in "}]"
                and not bare[tokens[i].end() : tokens[i + 1].start()].strip(_SPACE)
                and (tokens[i - 1][0] not in "{[," or bare[tokens[i - 1].end() : tokens[i].start()].strip(_SPACE))
            ):
                parts += [bare[at : tokens[i].start()], " "]
                at = tokens[i].end()
        return "".join([*parts, bare[at:]])

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            found = json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            if not text.strip(_SPACE):
                raise NotUnderstoodError("is empty") from error
            raise NotUnderstoodError(f"is not valid JSON (line {error.lineno}: {error.msg})") from error
        except (ValueError, RecursionError) as error:
            raise NotUnderstoodError("is not valid JSON") from error
        if not isinstance(found, dict):
            raise NotUnderstoodError("is no JSON object")
        return found

    def _match(self) -> Mapping[int, int]:
        """The place of each opening bracket among the tokens -> that of its closing one."""
        open_, found = [], {}
        for i, token in enumerate(self._tokens):
            if token[0] in ("{", "["):
                open_.append(i)
            elif token[0] in ("}", "]"):
                found[open_.pop()] = i
        return found

    def _object(self, at: int) -> _Object:
        tokens, bare = self._tokens, self._bare
        close = self._closers[at]
        members, i = [], at + 1
        while i < close:
            key = tokens[i]
            value = bare.index(":", key.end()) + 1
            while bare[value] in _SPACE:
                value += 1
            i += 1
            if bare[value] in "{[":
                i = self._closers[i] + 1
                end = tokens[i - 1].end()
            elif bare[value] == '"':
                end = tokens[i].end()
                i += 1
            else:
                end = tokens[i].start()
                while bare[end - 1] in _SPACE:
                    end -= 1
            comma = None
            if tokens[i][0] == ",":
                comma = tokens[i].start()
                i += 1
            members.append(_Member(json.loads(key[0]), key.start(), value, end, comma))
        return _Object(tokens[at].end(), tokens[close].start(), tuple(members))


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
