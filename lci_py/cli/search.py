"""`lci search` and `lci def`: flags and batch lines to requests, answers to output, and exit codes."""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from lci_py.cli.streams import InternalError, machine_stdout, one_output, paths_stdout, screen, warn, writing
from lci_py.errors import (
    EXIT_DEGRADED,
    EXIT_NO_RESULTS,
    EXIT_OK,
    EXIT_USAGE,
    BadPathError,
    LciError,
    UnknownModeError,
    UsageError,
    unknown_refresh,
)
from lci_py.types.search import MAX_HOPS, MODES, REFRESH, Answer, Filters, Mode, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lci_py.app import Engine as Session
    from lci_py.cli.fast_parser import Invocation

FILTER_KEYS = ("lang", "kind", "path", "exclude", "name")
_FLAGS = ("conflicts", "explain", "trace", "strict")
#: Number to the smallest value that it can have.
_NUMBERS = {"limit": 1, "snippet": 0, "max_tokens": 1, "expand": 0, "budget_ms": 1}
_WORDS = ("explain_file",)
_DEFAULTS = SearchRequest("")
BATCH_KEYS = ("query", "mode", "near", *_NUMBERS, *FILTER_KEYS, *_WORDS, *_FLAGS, "shadow")
# A line of a batch that is longer than this is no query: a binary file, or the wrong one.
_MAX_LINE = 1 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")


def run_search(call: Invocation) -> int:
    one_output(call, "json", "jsonl", "paths")
    if call.text("batch") is not None:
        return _run_batch(call)
    query = call.text("argument")
    request = to_request({**_raw(call), "query": query or ""})
    with open_session(call) as session:
        answer = _from_here(session.search(request), session, call)
        _warn_of_log(session, call)
    with writing():
        _print(answer, call, request)
    return _exit_code(answer, request.strict)


def run_def(call: Invocation) -> int:
    one_output(call, "json", "paths")
    name = (call.text("argument") or "").strip()
    if not name:
        raise UsageError("the name is empty", hint="lci def NAME")
    filters = Filters(**{key: call.texts(key) for key in FILTER_KEYS if key != "name"})
    limit = _number("limit", call.number("limit"))
    with open_session(call) as session:
        answer = _from_here(session.definitions(plain_text(name), filters, limit or 1), session, call)
    with writing():
        if call.flag("json"):
            _print_json(answer, doc=True)
        elif call.flag("paths"):
            _print_paths(answer)
        else:
            from lci_py.render.text.results import render_definitions

            to = screen()
            render_definitions(answer, file=to.file, color=to.color, width=to.width, footer=not call.flag("quiet"))
    if not answer.results and not filters and not call.flag("json") and not call.flag("quiet"):
        from lci_py.render.text.style import did_you_mean

        sys.stderr.write(f"lci: {did_you_mean(answer.query, answer.did_you_mean)}\n")
    return _exit_code(answer, strict=False)


def open_session(call: Invocation) -> Session:
    refresh = call.text("refresh")
    if refresh is not None and refresh not in REFRESH:
        raise unknown_refresh("--refresh", refresh)
    from lci_py import app

    trust = call.flag("trust_index") or None
    return app.open_session(call.text("root"), call.text("model"), refresh=refresh, trust=trust)


# --- requests ---------------------------------------------------------------------------------------------------


def _raw(call: Invocation) -> dict[str, Any]:
    """The flags under the names that a batch line uses."""
    raw: dict[str, Any] = {key: call.values.get(key) for key in BATCH_KEYS if key != "query"}
    if near := call.text("near"):
        from lci_py.cli.request import from_here_or_root

        raw["near"] = from_here_or_root(near)
    return raw


def to_request(raw: Mapping[str, Any]) -> SearchRequest:
    """The request that flags or a batch line ask for.

    Raises:
        UnknownModeError: If there is no such mode.
        UsageError: If a value has the wrong type or range, or there is neither a query nor a filter.
    """
    unknown = sorted(set(raw) - set(BATCH_KEYS))
    if unknown:
        raise UsageError(f"unknown key {unknown[0]!r}", hint=f"use: {', '.join(BATCH_KEYS)}")
    mode = _mode(raw.get("mode"))
    query = raw.get("query")
    if query is not None and not isinstance(query, str):
        raise UsageError("query must be a text")
    filters = Filters(**{key: _texts(key, raw.get(key)) for key in FILTER_KEYS})
    query = plain_text(query or "")
    if not query.strip() and not filters:
        raise UsageError("nothing to search for", hint="give a QUERY, or a filter such as --kind or --path")
    expand = _number("expand", raw.get("expand")) or 0
    if expand and mode != "multiview":
        raise UsageError("--expand needs --mode multiview", hint="the other modes read no graph")
    if expand > MAX_HOPS:
        raise UsageError(f"--expand must be at most {MAX_HOPS}, not {expand}")
    return SearchRequest(
        query=query,
        mode=mode,
        near=None if raw.get("near") is None else _near(raw["near"], mode, query),
        limit=_number("limit", raw.get("limit")),
        filters=filters,
        snippet=_number("snippet", raw.get("snippet")),
        max_tokens=_number("max_tokens", raw.get("max_tokens")),
        expand=expand,
        budget_ms=_number("budget_ms", raw.get("budget_ms")),
        conflicts=_flag("conflicts", raw.get("conflicts")),
        explain=_flag("explain", raw.get("explain")),
        explain_file=_word("explain_file", raw.get("explain_file")),
        trace=_flag("trace", raw.get("trace")),
        strict=_flag("strict", raw.get("strict")),
        shadow=_shadow(raw.get("shadow"), mode),
    )


def _shadow(name: object, mode: Mode) -> str | None:
    if name is None:
        return None
    if not isinstance(name, str):
        raise UsageError("--shadow must be a text")
    if mode != "multiview":
        raise UsageError("--shadow needs --mode multiview", hint="the other modes have one ranking")
    return name


def _mode(name: object) -> Mode:
    if name is None:
        return _DEFAULTS.mode
    for mode in MODES:
        if mode == name:
            return mode
    raise UnknownModeError(name if isinstance(name, str) else json.dumps(name))


def plain_text(text: str) -> str:
    """SQLite and tokenizers refuse the surrogates that carry bytes which are not UTF-8. Not `?`, which is a glob."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _number(key: str, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{_spelled(key)} must be a whole number")
    if value < _NUMBERS[key]:
        raise UsageError(f"{_spelled(key)} must be at least {_NUMBERS[key]}, not {value}")
    return value


def _word(key: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{_spelled(key)} must be a text")
    if value == "":
        raise UsageError(f"{_spelled(key)} is empty", hint="leave it out, or give a value")
    return value


def _near(value: object, mode: Mode, query: str) -> str:
    from lci_py.cli.request import near

    return near(value, mode, query)


def _texts(key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not all(isinstance(item, str) for item in values):
        raise UsageError(f"{_spelled(key)} must be a text or a list of texts")
    if not all(values):
        raise UsageError(f"{_spelled(key)} is empty", hint="leave it out, or give a value")
    return tuple(map(plain_text, values))


def _flag(key: str, value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise UsageError(f"{_spelled(key)} must be true or false")
    return bool(value)


def _spelled(key: str) -> str:
    return "--" + key.replace("_", "-")


# --- output -----------------------------------------------------------------------------------------------------


def _exit_code(answer: Answer, strict: bool) -> int:
    # Counted before --max-tokens cut: results that did not fit were found all the same.
    if strict and answer.degraded:
        return EXIT_DEGRADED
    return EXIT_OK if answer.results else EXIT_NO_RESULTS


def _within_budget(answer: Answer, max_tokens: int | None) -> Answer:
    if max_tokens is None:
        return answer
    from lci_py.render.token_budget import cut

    return cut(answer, max_tokens)


def _from_here(answer: Answer, session: Session, call: Invocation) -> Answer:
    """For people and xargs in a folder below the root that was found for them; with --root, paths start there."""
    if call.text("root") is not None or call.flag("json") or call.flag("jsonl"):
        return answer
    from lci_py.render.relative_paths import seen_from

    return seen_from(answer, session.root, os.getcwd())


def _print(answer: Answer, call: Invocation, request: SearchRequest) -> None:
    answer = _within_budget(answer, request.max_tokens)
    if call.flag("json"):
        _print_json(answer)
    elif call.flag("jsonl"):
        from lci_py.render.json.answer import jsonl

        machine_stdout().writelines(line + "\n" for line in jsonl(answer))
    elif call.flag("paths"):
        _print_paths(answer)
        _warn(answer, call)
    else:
        from lci_py.render.text.results import render

        to, quiet = screen(), call.flag("quiet")
        render(
            answer,
            file=to.file,
            color=to.color,
            width=to.width,
            snippet_lines=request.snippet,
            footer=not quiet,
            explain=request.explain,
        )


def _print_json(answer: Answer, *, doc: bool = False) -> None:
    from lci_py.render.json.answer import dumps, envelope

    machine_stdout().write(dumps(envelope(answer, doc=doc)) + "\n")


def _print_paths(answer: Answer) -> None:
    from lci_py.render.text.results import render_paths

    render_paths(answer, file=paths_stdout())


def _warn(answer: Answer, call: Invocation) -> None:
    """What a list of paths cannot say about itself."""
    for d in answer.degraded:
        warn(f"degraded: {d.view} ({d.failure_mode}), answered by {d.fallback_mode}", quiet=call.flag("quiet"))
    for given_up in (answer.plan or {}).get("relaxed", ()):
        warn(f"relaxed: {given_up}", quiet=call.flag("quiet"))


def _warn_of_log(session: Session, call: Invocation) -> None:
    if call.flag("verbose") and (problem := getattr(session, "log_problem", "")):
        warn(f"not logged: {problem}", quiet=call.flag("quiet"))


# --- batch ------------------------------------------------------------------------------------------------------


def _run_batch(call: Invocation) -> int:
    if call.text("argument") is not None:
        raise UsageError("--batch and QUERY cannot be used together", hint="put the query into the batch")
    for name in ("jsonl", "paths"):
        if call.flag(name):
            raise UsageError(f"--batch and --{name} cannot be used together", hint="a batch prints JSON")
    flags = _raw(call)
    to_request({**flags, "query": "a flag that is wrong is wrong for every line"})
    gc.enable()  # `run` turned it off, which is for short lives
    codes: set[int] = set()
    with _open_batch(call.text("batch") or "") as file, open_session(call) as session, writing():
        out = machine_stdout()
        for number, line in _lines(file):
            text, code = _answer_line(session, flags, line, number)
            codes.add(code)
            out.write(text + "\n")
            out.flush()  # an agent that keeps the batch open waits for this answer before its next question
        _warn_of_log(session, call)
    # The worst of the lines, save that one line with results makes up for those without.
    for code in (EXIT_USAGE, EXIT_DEGRADED, EXIT_OK):
        if code in codes:
            return code
    return EXIT_NO_RESULTS


@contextmanager
def _open_batch(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        if sys.stdin is None:
            raise BadPathError("cannot read -: standard input is closed", hint="--batch takes a file, or - for stdin")
        yield sys.stdin.buffer
        return
    try:
        file = open(name, "rb")  # noqa: SIM115  # closed below: only the opening may be reported as a bad path
    except OSError as error:
        message = f"cannot read {name}: {error.strerror}"
        raise BadPathError(message, hint="--batch takes a file, or - for stdin") from error
    with file:
        yield file


def _lines(file: IO[bytes]) -> Iterator[tuple[int, str | None]]:
    """Numbered lines that are not blank, each as soon as it is there: `for line in file` would read ahead.

    None stands for a line that is too long.
    """
    number = 0
    while data := file.readline(_MAX_LINE):
        number += 1
        if len(data) == _MAX_LINE and not data.endswith(b"\n"):
            while (data := file.readline(_MAX_LINE)) and not data.endswith(b"\n"):
                pass
            yield number, None
            continue
        line = data.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
        if line:
            yield number, line


def _answer_line(session: Session, flags: Mapping[str, Any], line: str | None, number: int) -> tuple[str, int]:
    """One line's JSON and exit code; whatever is wrong with it, the next line gets its answer."""
    from lci_py.render.json.answer import dumps, envelope, error_object

    try:
        request = to_request({**flags, **_parse_line(line)})
        answer = session.search(request)
        text = dumps(envelope(_within_budget(answer, request.max_tokens)))
        return text, _exit_code(answer, request.strict)
    except LciError as error:
        error.details.setdefault("line", number)
        return dumps(error_object(error)), EXIT_USAGE
    except BrokenPipeError:
        raise
    except Exception as found:  # one query that trips over a bug must not end the batch
        bug = InternalError(f"internal error: {type(found).__name__}: {found}")
        bug.details["line"] = number
        return dumps(error_object(bug)), EXIT_USAGE


def _parse_line(line: str | None) -> dict[str, Any]:
    if line is None:
        raise UsageError(
            f"a line of more than {_MAX_LINE:,} bytes", hint="a batch is a text file of one query per line"
        )
    if not line.startswith("{"):
        return {"query": line}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not a JSON object: {error}", hint="a line that starts with { is read as JSON") from error
    return dict(found)
