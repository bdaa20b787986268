"""Writes an answer to stdout: as text, JSON, Markdown or paths, within --max-tokens."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

from lci_py.cli.options import COMMANDS
from lci_py.cli.request import number, workspace_of
from lci_py.cli.streams import machine_stdout, paths_stdout, say, screen, writing
from lci_py.errors import UsageError, unknown_value
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lci_py.cli.command_line import Invocation
    from lci_py.render.json.answer import Parts
    from lci_py.render.text.style import Page
    from lci_py.types.search import IndexInfo

A = TypeVar("A")
#: Formats that a program reads: paths start at the root, and nothing is said on stderr.
MACHINE = ("json", "jsonl")
#: Formats with a place per line and no room for anything else.
PLACES = ("paths", "vimgrep")
#: Formats that draw the answer. A picture may be stored: its paths start at the root.
FILES = ("svg", "html")
PICTURES = ("dot", "mermaid", *FILES)


class Cut(NamedTuple, Generic[A]):
    """A list of results that can be shortened, and how.

    Attributes:
        size: The number of results.
        first: Returns the answer with only its first results, given their number.
        light: Returns the answer without the definitions of later targets, which are less important than results.
        targets: The number of targets whose definitions `light` drops.
    """

    size: int
    first: Callable[[int], A]
    light: Callable[[A], A] = lambda answer: answer
    targets: int = 0


def cut_results(answer: Any) -> Cut[Any]:
    """The `Cut` of an answer that is shortened by dropping the last of its `results`."""
    return Cut(len(answer.results), lambda count: answer._replace(results=answer.results[:count]))


class Writer(NamedTuple, Generic[A]):
    """How the answers of a command are written. Modules and functions are given by name, and imported on first use.

    Attributes:
        json: The function of `render/json` that makes JSON; Markdown is made from the JSON.
        text: The module of `render/text` whose function `render` writes text.
        cut: Returns how a list is shortened to --max-tokens; None if the command itself shortens, with `cost`.
        options: Further arguments of `render`.
        json_options: Further arguments of the function that `json` names.
        render: The function of `text`, if not `render`: a module may write the answers of two commands.
        page: Further arguments of `render.diagrams.write`, for a picture.
    """

    json: str
    text: str
    cut: Callable[[A], Cut[A]] | None = None
    options: Mapping[str, object] = {}
    json_options: Mapping[str, object] = {}
    render: str = "render"
    page: Mapping[str, object] = {}

    def parts(self, answer: A) -> Parts:
        module = "answer" if self.json == "search" else "answers"
        result: Parts = getattr(import_module(f"lci_py.render.json.{module}"), self.json)(answer, **self.json_options)
        return result

    def write(self, answer: A, to: Page, footer: bool) -> None:
        render = getattr(import_module(f"lci_py.render.text.{self.text}"), self.render)
        render(answer, to, footer=footer, **self.options)

    def picture(self, answer: A, shape: str) -> str:
        picture = getattr(import_module("lci_py.render.picture"), f"of_{self.json}")(answer)
        drawn: str = import_module("lci_py.render.diagrams").write(picture, shape, **self.page)
        return drawn


def shape_of(call: Invocation, *others: str) -> str:
    """The output shape: text, json, jsonl, markdown, or the name of another flag that chooses a shape.

    Args:
        others: Flags of this command that choose a shape, besides --json, --jsonl, --paths and --vimgrep.
    Raises:
        UsageError: Two flags choose different shapes, or a flag names an unknown shape.
    """
    flags = [name for name in ("json", "jsonl", *PLACES, *others) if call.flag(name)]
    form = call.text("format")
    if form is not None:
        formats = next(flag.choices or () for flag in COMMANDS[call.command].flags if flag.name == "format")
        if form not in formats:
            raise unknown_value("format", form, formats)
    shapes = list(dict.fromkeys([*flags, *([form] if form else [])]))
    if len(shapes) > 1:
        spelled = [f"--{name.replace('_', '-')}" for name in flags] + ([f"--format {form}"] if form else [])
        raise UsageError(f"{' and '.join(spelled)} cannot be used together", hint="choose one output")
    shape = shapes[0] if shapes else "json" if call.text("fields") is not None else "text"
    if call.text("fields") is not None and shape not in MACHINE:
        raise UsageError(f"--fields applies to JSON, not to {shape}", hint="leave out one of them")
    fields_of(call)  # before the index is opened: a wrong name is wrong whatever is found
    return shape


def from_here(answer: A, call: Invocation, shape: str, root: Path) -> A:
    """The answer with paths relative to the current folder, for people and xargs. With --root, and in the output shapes
    for programs, the answer is unchanged.
    """
    if call.starts_at_root or shape in (*MACHINE, *PICTURES) or os.path.samefile(root, "."):
        return answer
    from lci_py.render.relative_paths import seen_from

    return seen_from(answer, root, os.getcwd())


def fields_of(call: Invocation) -> tuple[str, ...]:
    """The keys of a result that --fields names, in the order of the flag; () for all keys.

    Raises:
        UsageError: Results of this command have no such key.
    """
    text = call.text("fields")
    if text is None:
        return ()
    from lci_py.render.json.answers import FIELDS

    keys = FIELDS[call.command]
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in keys:
            error = unknown_value("field", name, keys)
            raise UsageError(error.message, hint=f"use some of: {', '.join(keys)}")
    return names


def emit(call: Invocation, shape: str, answer: A, writer: Writer[A], *, bare: bool = False) -> None:
    """Write an answer to stdout. A list is shortened to --max-tokens, with a note on what was dropped.

    Args:
        shape: The output shape, from `shape_of`.
        bare: Whether the text has no room for advice about the index, as a list of paths: then it goes to stderr.
    """
    note = None
    max_tokens = number(call.values, "max_tokens") if "max_tokens" in call.values else None
    if max_tokens is not None and writer.cut is not None and shape not in PLACES:
        answer, note = _shorten(
            writer.cut(answer), max_tokens, lambda part, dropped: _written(call, shape, part, writer, dropped)
        )
    with writing():
        if shape in PLACES:
            write_places = getattr(import_module("lci_py.render.places"), shape)
            paths_stdout().writelines(write_places(writer.parts(answer)))
        else:
            page = screen(call) if shape == "text" else None
            _write(call, shape, answer, writer, note, machine_stdout() if page is None else page.file, page)
    if not call.flag("quiet") and (bare or shape in PLACES):
        info: IndexInfo = getattr(answer, "info", None) or getattr(answer, "index")  # noqa: B009  # whatever it is
        if info.advice:
            say(info.advice)


def _with_repositories(call: Invocation, parts: Parts) -> Parts:
    """In a workspace or fleet, add to each location its repository; in a workspace, also list missing repositories."""
    if call.command == "cluster":
        from lci_py.render.json.answer import of_fleet

        return of_fleet(parts)
    root = workspace_of(call)
    if root is None:
        return parts
    from lci_py.app.upkeep import missing_repositories
    from lci_py.render.json.answer import of_workspace

    return of_workspace(parts, root, missing_repositories(root))


def cost(call: Invocation, shape: str, writer: Writer[A]) -> Callable[[A], int]:
    """A function that counts the tokens of an answer as printed, for a command that shortens its answer itself."""
    from lci_py.render.token_budget import tokens

    return lambda part: tokens(_written(call, shape, part, writer, None))


def _written(call: Invocation, shape: str, answer: A, writer: Writer[A], note: dict[str, int] | None) -> str:
    # A client of `lci mcp` is told more, and all of it counts.
    buffer = type(sys.stdout)() if isinstance(sys.stdout, io.StringIO) else io.StringIO()
    page, width = None, None
    if shape == "text":
        if sys.stdout.isatty():
            import shutil

            width = shutil.get_terminal_size().columns
        from lci_py.render.text.style import Page

        page = Page(buffer, width=width)
    if shape not in PLACES:
        _write(call, shape, answer, writer, note, buffer, page)
    return buffer.getvalue()


def _write(
    call: Invocation,
    shape: str,
    answer: A,
    writer: Writer[A],
    note: dict[str, int] | None,
    file: IO[str],
    page: Page | None,
) -> None:
    """Write an answer, and the note on what was dropped: text to `page`, other formats to `file`. A single JSON object
    is written completely or, after an error, not at all.
    """
    if page is not None:
        writer.write(answer, page, not call.flag("quiet"))
        if note is not None:
            from lci_py.render.text.style import cut_lines

            page.lines(cut_lines(note, page.layout))
        return
    if shape in PICTURES:
        file.write(writer.picture(answer, shape))
        return
    from lci_py.render.json.answer import dumps

    parts, fields = _with_note(_with_repositories(call, writer.parts(answer)), note), fields_of(call)
    if shape == "jsonl":
        file.writelines(line + "\n" for line in parts.lines(fields))
    elif shape == "json":
        file.write(dumps(parts.whole(fields)) + "\n")
    else:
        from lci_py.render.markdown import markdown

        file.writelines(line + "\n" for line in markdown(parts.whole()))


# --- a list within a budget -------------------------------------------------------------------------------------


def _shorten(
    cut: Cut[A], max_tokens: int, render: Callable[[A, dict[str, int] | None], str]
) -> tuple[A, dict[str, int] | None]:
    from lci_py.render.token_budget import largest, tokens

    if tokens(render(cut.first(cut.size), None)) <= max_tokens:
        return cut.first(cut.size), None

    def note(length: int) -> dict[str, int]:
        counts = {"results_dropped": cut.size - length, "targets_dropped": cut.targets}
        return {what: count for what, count in counts.items() if count} | {"max_tokens": max_tokens}

    def part(count: int) -> A:
        return cut.light(cut.first(count))

    # One result is shown whatever the budget: an answer without any would say that there is none.
    minimum = min(1, cut.size)
    length = largest(cut.size, lambda count: tokens(render(part(count), note(count))) <= max_tokens, minimum)
    return part(length), note(length) if length < cut.size or cut.targets else None


def _with_note(parts: Parts, note: dict[str, int] | None) -> Parts:
    if note is None:
        return parts

    def tail() -> dict[str, Any]:
        tail = parts.tail()
        return {**tail, "has_more": tail["has_more"] or "results_dropped" in note, "truncated": note}

    return parts._replace(tail=tail)
