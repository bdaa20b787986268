"""`lci cluster`: indexes and searches the repositories of a fleet (many repositories with one store), and cleans it."""

from __future__ import annotations

import gc
import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lci_py.cli.command_line import defaults
from lci_py.cli.object_parser import line_object, text_of, value_of
from lci_py.cli.options import COMMANDS
from lci_py.cli.options.manage import CLUSTER_ACTIONS
from lci_py.cli.output import shape_of
from lci_py.cli.request import FILTER_KEYS, filters_of, texts, to_request
from lci_py.cli.search import put
from lci_py.cli.streams import progress, warn, write_json, writing
from lci_py.errors import EXIT_OK, UsageError, unknown_value

if TYPE_CHECKING:
    from lci_py.app.fleet import Root
    from lci_py.cli.command_line import Invocation

#: The flags that say what is searched for.
_REQUEST = (
    "mode", "limit", "offset", "snippet", "max_tokens", "lang", "kind", "path", "exclude", "name", "repo", "strict",
)  # fmt: skip
#: Flags of each action alone.
_OF = {
    "index": ("repos", "workers"),
    "clean": ("grace",),
    "search": (*_REQUEST, "jsonl", "format", "fields", "paths", "timeout", "batch"),
}
_MAX_WORKERS = 256


def run_cluster(call: Invocation) -> int:
    _check(call)
    gc.enable()  # the entry point turned it off for short runs
    action = call.text("argument")
    if action == "clean":
        return _clean(call)
    return _index(call) if action == "index" else _search(call)


def _check(call: Invocation) -> None:
    """Raise a `UsageError` if a flag does not go with the action, or a flag that every action needs is missing."""
    for key in (*FILTER_KEYS, "repo"):
        texts(call.values, key)  # refuses an empty one
    action = call.text("argument") or ""
    if action not in CLUSTER_ACTIONS:
        raise unknown_value("action", action, CLUSTER_ACTIONS)
    for other in CLUSTER_ACTIONS:
        for name in _OF[other] if other != action else ():
            if call.values.get(name) not in (None, False, ()):
                raise UsageError(f"--{name.replace('_', '-')} is a flag of `lci cluster {other}`", hint="leave it out")
    if call.text("root") is not None:
        raise UsageError("a fleet has no --root", hint="name the fleet with --store")
    if not call.text("store"):
        raise UsageError("no fleet is named", hint="name a folder or a URL with --store")


def _index(call: Invocation) -> int:
    from lci_py.app import fleet

    if call.texts("more"):
        raise UsageError("`lci cluster index` takes no QUERY", hint="repositories are named in the file of --repos")
    repositories = listed_repositories(call.text("repos"))
    workers = fleet.workers(call.text("scheduler"), _tls(call), processes=_processes(call))
    with progress(call) as bar:
        report = fleet.index(call.text("store") or "", repositories, workers, bar)
    for text in report["warnings"]:
        warn(text, quiet=call.flag("quiet"))
    with writing():
        if call.flag("json"):
            write_json(report)
        elif not call.flag("quiet"):
            state = f"{len(report['indexed']):,} indexed" if report["changed"] else "nothing has changed"
            count = len(report["repositories"])
            many = f"{count:,} {'repository' if count == 1 else 'repositories'}"
            size = f"{many}, {report['files']:,} files, {report['chunks']:,} chunks"
            print(f"{size}: {state} ({report['seconds']:.1f} s, generation {report['generation']})")
    return EXIT_OK


def _clean(call: Invocation) -> int:
    from lci_py.app import fleet

    if call.texts("more"):
        raise UsageError("`lci cluster clean` takes no QUERY", hint="it is about the store alone")
    hours = call.number("grace")
    if hours is not None and hours < 0:
        raise UsageError(f"--grace must be at least 0, not {hours}")
    report = fleet.clean(call.text("store") or "", 24 if hours is None else hours)
    with writing():
        if call.flag("json"):
            write_json(report)
        elif not call.flag("quiet"):
            young = f", {report['young']:,} are too young" if report["young"] else ""
            removed = f"removed {report['removed']:,} objects, {report['bytes'] / 1e6:,.1f} MB"
            print(f"{removed}; kept {report['kept']:,}{young}")
    return EXIT_OK


def listed_repositories(path: str | None) -> list[tuple[str, str]]:
    """The repositories that the file of --repos lists, each as (name, source)."""
    if not path:
        raise UsageError(
            "no repositories are named", hint="name a file with --repos: NAME PATH[@REVISION] on each line"
        )
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error})", hint="give a text file") from None
    repositories = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageError(f"{path}:{number}: {error}", hint="quote a name with blanks in it") from None
        if not words:
            continue
        if len(words) != 2:
            raise UsageError(f"{path}:{number}: {len(words)} words", hint="write NAME PATH[@REVISION]")
        source = words[1] if "://" in words[1] else str(Path(words[1]).absolute())
        repositories.append((words[0], source))
    return repositories


def _search(call: Invocation) -> int:
    shape = shape_of(call)
    # Globs of paths start at the repositories' names: there is no current folder among them.
    filters = filters_of({**call.values, "repo": ()})
    request = to_request(call, " ".join(call.texts("more")), filters)
    with _open_root(call, 4 if shape == "text" and sys.stdout.isatty() else 2) as fleet:
        answer = fleet.search(request, call.texts("repo"))
    return put(call, shape, request, answer, no_code=not any(result.snippet for result in answer.results))


def _open_root(call: Invocation, snippet: int) -> AbstractContextManager[Root]:
    if call.session is not None:
        return nullcontext(cast("Root", call.session))
    from lci_py.app import fleet

    timeout = call.number("timeout")
    if timeout is not None and timeout < 1:
        raise UsageError(f"--timeout must be at least 1, not {timeout}")
    if timeout is not None and call.text("scheduler") is None:
        raise UsageError("--timeout is for the workers of a scheduler", hint="leave it out, or name --scheduler")
    workers = fleet.workers(call.text("scheduler"), _tls(call), timeout=timeout)
    return fleet.connect(call.text("store") or "", workers, snippet)


def open_searches(call: Invocation) -> AbstractContextManager[Root]:
    """A connection to the fleet for all searches of a batch, opened with the flags of the command line."""
    _check(call)
    if call.text("argument") != "search":
        raise UsageError("--batch is a flag of `lci cluster search`", hint="leave it out")
    return _open_root(call, 2)


def line_of_batch(base: Invocation, line: str) -> Invocation:
    """The search that a line of a batch asks for. The line is a query, or a JSON object of a search's flags.

    Raises:
        UsageError: The JSON object is not valid, or has a wrong key or value.
    """
    fields = line_object(line) if line.startswith("{") else {"query": line}
    flags = {flag.name: flag for flag in COMMANDS["cluster"].flags if flag.name in _REQUEST}
    values, left_out = dict(base.values), defaults(COMMANDS["cluster"])
    for key, value in fields.items():
        name = key.replace("-", "_")
        if name == "query":
            values["more"] = (text_of(key, value),)
        elif name not in flags:
            raise unknown_value("key", name, ("query", *_REQUEST))
        else:
            values[name] = left_out[name] if value is None else value_of(flags[name], key, value)
    return base._replace(values={**values, "json": True, "batch": None})


def _processes(call: Invocation) -> int:
    count = call.number("workers")
    if count is not None and call.text("scheduler") is not None:
        raise UsageError("--workers and --scheduler cannot be used together", hint="a scheduler has its own workers")
    if count is not None and not 1 <= count <= _MAX_WORKERS:
        raise UsageError(f"--workers must be 1 to {_MAX_WORKERS}, not {count}")
    return count or 2


def _tls(call: Invocation) -> tuple[str, str, str] | None:
    ca, cert, key = (call.text(name) for name in ("tls_ca", "tls_cert", "tls_key"))
    if ca and cert and key:
        for path in (ca, cert, key):
            if not Path(path).is_file():
                raise UsageError(f"{path} is not a file", hint="docs/cluster.md says how to make them")
        if call.text("scheduler") is None:
            raise UsageError("TLS is for a scheduler", hint="name it with --scheduler tls://HOST:PORT")
        return ca, cert, key
    if ca or cert or key:
        raise UsageError("TLS needs --tls-ca, --tls-cert and --tls-key", hint="docs/cluster.md says how to make them")
    return None
