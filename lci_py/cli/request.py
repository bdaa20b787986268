"""Builds requests from flags or a line of a batch, and opens the engine that answers them."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

from lci_py.cli.command_line import MORE, Invocation
from lci_py.cli.streams import progress, warn
from lci_py.errors import (
    BadPathError,
    UnknownModeError,
    UsageError,
    Words,
    near_needs_words,
    nothing_asked,
    unknown_refresh,
)
from lci_py.types.record import NamedTuple
from lci_py.types.search import MAX_HOPS, MODES, REFRESH, Filters, Mode, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from lci_py.app import Engine

    Report = Callable[[str, int, int], None]

_PATH_KEYS = ("path", "exclude")
_WILD = re.compile(r"[*?\[\\]")
FILTER_KEYS = ("lang", "kind", "path", "exclude", "name", "repo")
#: Numbers that may be 0; any other is at least 1.
_MAY_BE_0 = frozenset({"offset", "snippet", "context", "before_context", "after_context", "expand", "max_nodes"})
#: As of the command line: larger numbers are mistakes.
_LARGEST = 10**9
#: A line behind a part of a path, and the column that compilers write behind that.
PATH_LINE = re.compile(r"(.+?):([1-9][0-9]{0,8})(?::[0-9]*)?:?")
_SURROGATE = re.compile("[\ud800-\udfff]")


def open_engine(call: Invocation, *, snippet: int = 2, whole: bool = False) -> AbstractContextManager[Engine]:
    """Opens the index and returns the engine that answers a command.

    Args:
        snippet: Lines shown per result, if neither a flag nor a setting gives a number.
        whole: Whether the command needs the call graph.
    """
    if call.session is not None:
        return cast("KeptEngine", call.session).engine(whole=whole)
    return _open_engine(call, snippet, whole, None, lambda: progress(call))


class KeptEngine:
    """One engine for several commands, which have it as `session`. It is a context manager that closes the engine."""

    def __init__(self, call: Invocation, report: Report | None = None) -> None:
        """Prepare to open the index at the first command.

        Args:
            call: The command line of a batch or a server, whose flags say how the index is opened.
            report: For a server, called with (stage, done, total) while an index is built; None for a batch.
        """
        self._call = call
        self._progress = (lambda: nullcontext(report)) if report else (lambda: progress(call))
        self._engine: Engine | None = None
        self._checked = False

    def __enter__(self) -> KeptEngine:
        return self

    def __exit__(self, *_exc: object) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.__exit__()

    def look_again(self) -> None:
        """Make the next command check again for changed files and for writes of other processes."""
        self._checked = False

    def engine(self, *, whole: bool) -> AbstractContextManager[Engine]:
        """The open engine, which the caller must not close. If `whole`, the engine has the whole call graph."""
        engine = self._engine
        lacks_graph = whole and engine is not None and not engine.snapshot.manifest.is_complete
        if engine is None or not self._checked or lacks_graph:
            try:
                self._engine = engine = _open_engine(self._call, 2, whole, engine, self._progress)
            except BaseException:
                self.__exit__()
                raise
            self._checked = True
        return nullcontext(engine)


def _open_engine(call: Invocation, snippet: int, whole: bool, engine: Engine | None, bar: Callable[[], Any]) -> Engine:
    refresh = call.text("refresh")
    if refresh is not None and refresh not in REFRESH:
        raise unknown_refresh(refresh)
    from lci_py import app

    trust = call.flag("trust_index") or None
    root, model = call.text("root"), call.text("model")
    more: dict[str, Any] = {} if engine is None else {"previous": engine}
    if call.command not in ("search", "def") and (workspace := workspace_of(call)):
        from lci_py.app.upkeep import missing_repositories

        for repository in missing_repositories(workspace):  # answers of those two say so themselves
            warn(f"without {repository['repository']}: {repository['message']}", quiet=call.flag("quiet"))
    return app.open_engine(
        root,
        model,
        refresh=refresh,
        trust=trust,
        snippet=snippet,
        whole=whole,
        progress=bar,
        say=lambda text: warn(text, quiet=call.flag("quiet")),
        **more,
    )


def workspace_of(call: Invocation) -> str | None:
    """The root of a command if the root is a workspace, else None."""
    root = call.text("root") or ""
    if not _may_be_workspace(root):
        return None
    from lci_py import app

    path = str(app.find_root(root))
    return path if app.is_of_workspace(path) else None


def _may_be_workspace(root: str) -> bool:
    """Whether a root may be a workspace, judging by its path; other roots are spared an import."""
    return os.path.basename(os.path.dirname(root.rstrip("/"))) == "workspaces"


def required_name(call: Invocation) -> str:
    """The argument NAME of a command that needs a name.

    Raises:
        UsageError: The argument is blank.
    """
    name = (call.text("argument") or "").strip()
    if not name:
        raise UsageError("the name is empty", hint=Words(f"lci {call.command} NAME", "give a name"))
    return plain_text(name)


def plain_text(text: str) -> str:
    """`text` with U+FFFD for each byte that is not UTF-8: SQLite and tokenizers refuse the surrogates of such bytes.

    U+FFFD is used because `?` would act as a glob.
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


# --- a search ---------------------------------------------------------------------------------------------------


class FromRoot(str):
    """A path or glob that is relative to the root, whatever the current folder is."""

    __slots__ = ()


def line_defaults(call: Invocation, root: str) -> Invocation:
    """A copy of a batch's command line, whose flags are the default values of the batch's lines.

    Paths of the command line are relative to the current folder, paths in lines to the root; the copy marks its paths.
    """
    values: dict[str, Any] = {
        **call.values,
        "root": root,
        "workspace": None,
        "json": True,
        "batch": None,
        "format": None,
    }
    values.update(path_filters(call))
    if call.command == "search":
        values["mode"] = _mode(call)
        values["near"] = _from_here_or_root(call.text("near"))
    for key in _PATH_KEYS:
        values[key] = tuple(map(FromRoot, values.get(key) or ()))
    return call._replace(values=from_root(values))


def from_root(values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the values of a batch's line, with the FILE in `near` marked as relative to the root."""
    near = values.get("near")
    return {**values, "near": FromRoot(near)} if near else dict(values)


def _from_here_or_root(near: str | None) -> str | None:
    """Make a location that is relative to the current folder absolute. If no such file exists there, the location is
    returned unchanged: it may come from an answer, whose paths are relative to the root.
    """
    if not near or isinstance(near, FromRoot):
        return near
    here = os.path.abspath(near) if "\0" not in near else near
    folder, _, name = here.rpartition("/")
    return here if os.path.lexists(here) or os.path.lexists(f"{folder}/{name.partition(':')[0]}") else near


def to_request(call: Invocation, query: str | None, filters: Filters) -> SearchRequest:
    """Builds the request of a search.

    Raises:
        UnknownModeError: The search mode is unknown.
        UsageError: A value is out of range, or both query and filters are missing.
    """
    mode, values = _mode(call), call.values
    query = plain_text(query or "")
    if not query.strip() and not filters:
        raise nothing_asked()
    return SearchRequest(
        query=query,
        mode=mode,
        expand=_expand(values, mode),
        near=_near(call.text("near"), mode, query),
        limit=number(values, "limit"),
        offset=number(values, "offset") or 0,
        filters=filters,
        snippet=number(values, "snippet"),
        context=_context(values),
        max_tokens=number(values, "max_tokens"),
        budget_ms=number(values, "budget_ms"),
        conflicts=call.flag("conflicts"),
        explain=call.flag("explain"),
        explain_file=_word(values, "explain_file"),
        trace=call.flag("trace"),
        strict=call.flag("strict"),
    )


def _mode(call: Invocation) -> Mode:
    name = call.text("mode")
    if name is None and call.command == "cluster":
        return "dense"
    if name is None:
        from lci_py import app

        return app.default_mode(call.text("root"))
    for mode in MODES:
        if name in (mode, mode[0]):
            return mode
    raise UnknownModeError(name)


def _expand(values: Mapping[str, object], mode: Mode) -> int:
    expand = number(values, "expand") or 0
    if expand and mode != "multiview":
        raise UsageError("--expand needs --mode multiview", hint="the other modes read no graph")
    if expand and number(values, "offset"):
        hint = "neighbours are those of the best results: leave out --offset"
        raise UsageError("--expand and --offset cannot be used together", hint=hint)
    if expand > MAX_HOPS:
        raise UsageError(f"--expand must be at most {MAX_HOPS}, not {expand}")
    return expand


def _near(location: str | None, mode: Mode, query: str) -> str | None:
    """The location that --near names, not yet looked up in the index; None without the flag."""
    if location is None:
        return None
    if not location:
        raise UsageError("--near is empty", hint="give FILE or FILE:LINE, or leave it out")
    if mode != "multiview":
        raise UsageError("--near needs --mode multiview", hint="the other modes read no graph")
    if not query.strip():
        raise near_needs_words()
    return _from_here_or_root(location)


def _context(values: Mapping[str, object]) -> tuple[int, int] | None:
    """The numbers of lines to show (before, after) the best line; None to use the number in `snippet`."""
    both, before, after = (number(values, key) for key in ("context", "before_context", "after_context"))
    counts = [value for value in (both, before, after) if value is not None]
    if not counts:
        return None
    if values.get("snippet") is not None:
        raise UsageError("--snippet and --context cannot be used together", hint="both set the number of lines shown")
    both = both or 0
    return (both if before is None else before, both if after is None else after)


# --- paths, which start at the current folder -------------------------------------------------------------------


class _Folders(NamedTuple):
    """The folders that paths of a command line may be relative to."""

    root: str
    starts: tuple[str, ...]  # the first where a path leads to something counts; else the first

    def inside(self, full: str) -> str | None:
        """Makes an absolute path relative to the root; "" for the root itself, None for a path outside of it."""
        folder, name = os.path.split(full)
        paths = (full, os.path.join(os.path.realpath(folder), name))
        for path in paths:
            relative = os.path.relpath(path, self.root).replace(os.sep, "/")
            if relative.partition("/")[0] != os.pardir:
                return "" if relative == os.curdir else relative
        if not _may_be_workspace(self.root):
            return None
        from lci_py import app

        return next((inner for path in paths if (inner := app.path_in_repository(self.root, path))), None)


def flag_filters(call: Invocation) -> Filters:
    """The filters that a command's flags set, read as `lci search` reads them.

    Raises:
        BadPathError, UsageError: A value is empty, or a path leads out of the root.
    """
    return filters_of({**call.values, **path_filters(call)})


def filters_of(values: Mapping[str, object]) -> Filters:
    """The filters that the values of a command set; paths must be relative to the root."""
    lists: dict[str, Any] = {key: texts(values, key) for key in FILTER_KEYS}
    since = plain_text(_word(values, "changed_since") or "")
    return Filters(**lists, no_tests=values.get("no_tests") is True, changed_since=since)


def name_from_root(name: str, call: Invocation) -> str:
    """Makes FILE of FILE::NAME or FILE:LINE relative to the root, not to the current folder. Other names stay."""
    match = re.fullmatch(r"(.+?)(::.*|:[0-9]{1,9})", name, re.ASCII | re.DOTALL)
    if match is None or call.starts_at_root or not os.path.isfile(match[1]):
        return name
    path = path_from_root(match[1], call)
    return f"{path}{match[2]}" if path else name


def path_from_root(path: str, call: Invocation) -> str | None:
    """Makes an existing path relative to the root: "" for the root itself, None if it does not exist or lies outside.
    The path may be relative to the current folder, or to the root as in JSON.
    """
    from lci_py import app

    if not path or "\0" in path:
        return None
    root, here = str(app.find_root(call.text("root"))), os.path.realpath(os.getcwd())
    folders = _Folders(root, (root, here) if call.starts_at_root else (here, root))
    paths = (os.path.normpath(os.path.join(start, path)) for start in folders.starts)
    return next(
        (inside for full in paths if os.path.lexists(full) and (inside := folders.inside(full)) is not None), None
    )


#: FILE:LINE, FILE:LINE:COLUMN as compilers and `lci refs` print it, and FILE:A-B.
_PLACE = r"(.+?):([0-9]{1,9})(?:-([0-9]{1,9})|(?::[0-9]{1,9})?:?)"


def place_from_root(text: str, call: Invocation) -> tuple[str, int | None, int | None] | None:
    """Splits FILE, FILE:LINE or FILE:A-B into (file relative to the root, A, B); None if no such file exists."""
    parts = re.fullmatch(_PLACE, text, re.ASCII | re.DOTALL)
    if parts and (path := path_from_root(parts[1], call)):
        return plain_text(path), int(parts[2]), int(parts[3]) if parts[3] else None
    whole = path_from_root(text, call)
    return (plain_text(whole), None, None) if whole else None


def path_filters(call: Invocation) -> dict[str, tuple[str, ...]]:
    """A dict with the globs of `path` (which include the PATH arguments) and of `exclude`, relative to the root.

    On the command line, paths are relative to the current folder or, with --root, to the root. A path that does not
    exist there is tried relative to the other folder, as in JSON.

    Raises:
        BadPathError: A path leads out of the root, or a PATH does not exist.
    """
    globs, paths = {key: call.texts(key) for key in _PATH_KEYS}, call.texts(MORE)
    if call.command == "grep":  # -g takes both, as in ripgrep
        globs = _without_negations(globs["path"], globs["exclude"])
    if not (paths or any(globs.values())):
        return {}
    from lci_py import app

    root, here = str(app.find_root(call.text("root"))), os.path.realpath(os.getcwd())
    folders = _Folders(root, (root, here) if call.starts_at_root else (here, root))
    result = {key: tuple(plain_text(_from_root(glob, folders)) for glob in several) for key, several in globs.items()}
    result["path"] += tuple(plain_text(_path_glob(path, folders)) for path in paths)
    return {key: several for key, several in result.items() if several or call.values.get(key)}


def _without_negations(globs: tuple[str, ...], exclude: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Split globs into a dict of `path` and `exclude`: each !GLOB becomes an `exclude`.

    Raises:
        UsageError: A glob follows a !GLOB: in ripgrep, it would bring back excluded files.
    """
    path = tuple(glob for glob in globs if not glob.startswith("!"))
    if path != globs[: len(path)]:
        raise UsageError(
            "-g GLOB after -g !GLOB", hint="write globs with ! last: they exclude files that the others include"
        )
    return {"path": path, "exclude": exclude + tuple(glob[1:] for glob in globs[len(path) :])}


def _path_glob(path: str, folders: _Folders) -> str:
    """The glob for a PATH argument. If a file or folder has exactly this name, the glob matches only it."""
    if not path or "\0" in path:
        raise BadPathError("a PATH is empty or holds a NUL", hint="PATHs narrow the search to files and folders")
    if any(os.path.lexists(os.path.join(start, path)) for start in folders.starts):
        return _from_root(path if path.startswith((".", os.sep)) else f"./{path}", folders)
    if _WILD.search(path):
        return _from_root(path, folders)
    raise BadPathError(
        f"there is no file or folder {path}",
        hint="what follows the QUERY are PATHs; put a query of several words in quotes",
    )


def _from_root(glob: str, folders: _Folders) -> str:
    """Makes a glob of the command line relative to the root. A glob that matches at any depth is unchanged."""
    if isinstance(glob, FromRoot):
        return glob
    bare = glob.rstrip("/")
    if "\0" in glob or glob.startswith(("**/", "!")) or not bare:
        return glob
    if "/" not in bare and bare not in (os.curdir, os.pardir):
        return _literal(glob) if _WILD.search(glob) and os.path.lexists(glob) else glob
    for full, wild in _spellings(bare, folders.starts):
        path = folders.inside(full)
        if path is None or (path and not os.path.lexists(full)):
            continue
        return _anchored_glob(path, wild, glob)
    if glob.startswith("/"):  # as in .gitignore, a slash alone means the root, unless it is the file system's
        exists = _WILD.search(glob.split("/")[1]) or os.path.lexists(os.path.join(folders.root, glob.split("/")[1]))
        if exists:
            return glob
    full, wild = next(_spellings(bare, folders.starts))
    path = folders.inside(full)
    if path is None:
        if _may_be_workspace(folders.root):
            name, hint = os.path.basename(folders.root), "write REPOSITORY/PATH, or a path from the current folder"
            raise BadPathError(f"no repository of the workspace {name} has {glob}", hint=hint)
        shell, tools = "the current folder; see --root for another root", "the root of the repository"
        hints = Words(*(f"paths start at {words}" for words in (shell, tools)))
        raise BadPathError(f"{glob} is outside {folders.root}", hint=hints)
    return _anchored_glob(path, wild, glob)


def _spellings(glob: str, starts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields the ways to read a glob, each as (absolute path before the first wildcard, rest of the glob).

    If a file has the glob as its name, such as `pages/[id].tsx`, the whole glob is the path.
    """
    for start in starts:
        whole = os.path.normpath(os.path.join(start, glob))
        if os.path.lexists(whole):
            yield whole, ""
            continue
        parts = glob.split("/")
        plain = next((index for index, part in enumerate(parts) if _WILD.search(part)), len(parts))
        before = "".join(f"{part}/" for part in parts[:plain])
        yield os.path.normpath(os.path.join(start, before)), "/".join(parts[plain:])


def _anchored_glob(path: str, wild: str, glob: str) -> str:
    pattern = "/".join(part for part in (_literal(path), wild) if part) or "**"
    if pattern == glob.rstrip("/") and "/" in pattern:
        return glob
    # A slash at the end still says that only a folder is meant.
    return f"/{pattern}/" if glob.endswith("/") and pattern != "**" else f"/{pattern}"


def _literal(path: str) -> str:
    """The glob that matches only this path: wildcards in it are escaped."""
    return re.sub(r"([*?\[\\]| $)", r"\\\1", path)


# --- one value of a flag or of a batch line ---------------------------------------------------------------------


def number(values: Mapping[str, object], key: str, spelled: str = "") -> int | None:
    """The integer of a flag or key (2.0 in JSON is 2), or None if it is missing; errors call it `spelled`.

    Raises:
        UsageError: The value is not an integer, or out of range.
    """
    value, spelled = values.get(key), spelled or _flag_name(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{spelled} must be a whole number")
    minimum = 0 if key in _MAY_BE_0 else 1
    if abs(value) >= _LARGEST:
        raise UsageError(f"{spelled} has more than 9 digits")
    if value < minimum:
        raise UsageError(f"{spelled} must be at least {minimum}, not {value}")
    return value


def texts(values: Mapping[str, object], key: str) -> tuple[str, ...]:
    """The texts of a flag that may be repeated, with bytes that are not UTF-8 replaced as in `plain_text`.

    Raises:
        UsageError: A text is empty.
    """
    several = values.get(key)
    return tuple(plain_text(_word({key: text}, key) or "") for text in several) if isinstance(several, tuple) else ()


def _word(values: Mapping[str, object], key: str) -> str | None:
    value = values.get(key)
    if value == "":
        raise UsageError(f"{_flag_name(key)} is empty", hint="leave it out, or give a value")
    return value if isinstance(value, str) else None


def _flag_name(key: str) -> str:
    return "--" + key.replace("_", "-")
