"""The commands that do not query an index: `lci index`, `status`, `stats`, `clean`, `workspace`, `hook` and `agent`."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from lci_py import interrupts
from lci_py.cli.command_line import Invocation
from lci_py.cli.options.manage import HOOK, WORKSPACE_ACTIONS
from lci_py.cli.request import number
from lci_py.cli.streams import paths_stdout, progress, say_interrupted, screen, write_json, writing
from lci_py.errors import (
    EXIT_INDEX,
    EXIT_NO_RESULTS,
    EXIT_OK,
    EXIT_USAGE,
    InterruptedRun,
    LciError,
    NoIndexError,
    TooLargeError,
    UsageError,
    unknown_value,
)
from lci_py.types.index import KEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lci_py.render.text.progress import Progress
    from lci_py.render.text.style import Page

#: Files, and bytes of them, that are indexed outside of git without asking: a few seconds.
_UNASKED = (10_000, 100_000_000)
#: Seconds after which an agent that waits for its hook is told nothing.
_HOOK_SECONDS = 2
#: Characters of an event that are read: with the answer of a tool it may be long.
_MOST_READ = 16_000_000
#: Values of `health` with which the index can be searched.
_USABLE = ("ok", "stale")


def run_index(call: Invocation) -> int:
    where, files = _repository_and_files(call)
    jobs, wait = call.number("jobs"), call.number("wait") or 0
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs must be at least 1, not {jobs}")
    if wait < 0:
        raise UsageError(f"--wait must be at least 0, not {wait}", hint="0 does not wait")
    if call.flag("dry_run"):
        return _run_dry(call, where)
    from lci_py import app
    from lci_py.render.text.index import render_build
    from lci_py.types.record import asdict

    gc.enable()  # the entry point turned it off for short runs
    asks = files is None and not call.flag("yes") and app.is_unasked(where)
    if asks and not _is_wanted(call, where):
        return EXIT_NO_RESULTS
    with progress(call) as bar:
        report = _Report(call, bar)
        with interrupts.at_interrupt(report.say_interrupted):
            built = app.build_index(
                where,
                full=call.flag("full"),
                jobs=jobs,
                model=call.text("model"),
                files=files,
                wait=wait,
                defer_dense=call.flag("defer_dense"),
                trust=call.flag("trust_index") or None,
                branches=_branches(call),
                ignore_files=_ignore_files(call),
                allow=_allow(call),
                progress=report,
            )
    _print(call, asdict(built), lambda to: render_build(built, to))
    return EXIT_OK


def _is_wanted(call: Invocation, where: str | None) -> bool:
    """Whether to index a folder that is in no git work tree. If it is large, the user is asked on a terminal.

    Raises:
        TooLargeError: The folder is large, --yes is not given, and no terminal is there to ask on.
    """
    from lci_py import app

    asks = not call.flag("json") and sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    try:
        with progress(call) as bar:
            files, size = app.count_files(where, None if asks else _UNASKED, bar)
    except TooLargeError:
        raise TooLargeError(str(app.find_root(where)), *_UNASKED, outside=True) from None
    if files <= _UNASKED[0] and size <= _UNASKED[1]:
        return True
    from lci_py.render.text.style import visible_line

    root = visible_line(str(app.find_root(where)))
    sys.stderr.write(f"{root} is in no git work tree. Index {files:,} files ({size / 1e6:,.0f} MB)? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _branches(call: Invocation) -> tuple[str, ...] | None:
    """The branches that --branches names, () for an empty value; None without the flag."""
    text = call.text("branches")
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _ignore_files(call: Invocation) -> bool | None:
    """Whether ignore files such as .gitignore count; None if neither --ignore nor --no-ignore is given."""
    if call.flag("ignore") and call.flag("no_ignore"):
        raise UsageError("--ignore and --no-ignore cannot be used together", hint="choose one of them")
    return True if call.flag("ignore") else False if call.flag("no_ignore") else None


def _allow(call: Invocation) -> tuple[str, ...] | None:
    """The globs that --include gives, () for an empty value; None without the flag."""
    globs = call.texts("include")
    return tuple(glob for glob in globs if glob) if globs else None


def _repository_and_files(call: Invocation) -> tuple[str | None, tuple[str, ...] | None]:
    """Returns (repository, files): the repository to index, and the files to refresh in it; None for all files."""
    names, root = call.texts("argument"), call.text("root")
    if call.flag("files"):
        for name in ("full", "dry_run"):
            if call.flag(name):
                flag = name.replace("_", "-")
                raise UsageError(f"--files and --{flag} cannot be used together", hint=f"--{flag} is about all files")
        return root, names
    if len(names) > 1:
        raise UsageError(
            f"one PATH only, not {len(names)}", hint="to refresh some files of a repository: lci index --files NAME …"
        )
    if names and root is not None:
        raise UsageError("PATH and --root cannot be used together", hint="both name the repository")
    return (names[0] if names else root), None


class _Report:
    """The progress callback of a build: moves the bar, and remembers how much an interrupted build has kept."""

    def __init__(self, call: Invocation, progress: Progress | None) -> None:
        self._json, self._quiet, self._full = call.flag("json"), call.flag("quiet"), call.flag("full")
        self._progress = progress
        self._kept = (0, 0)

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage == KEPT:
            self._kept = (0, 0) if self._full else (done, total)  # the next --full does not look at it
        elif self._progress is not None:
            self._progress(stage, done, total)

    def say_interrupted(self) -> None:
        """Remove the progress bar, and print what the next run will reuse."""
        if self._progress is not None:
            interrupts.say(2, self._progress.erased())
        if self._json or not self._quiet:
            say_interrupted(InterruptedRun(*self._kept), as_json=self._json)


def _run_dry(call: Invocation, where: str | None) -> int:
    from lci_py import app
    from lci_py.render.text import index

    with progress(call) as bar:
        files, skipped, rules = app.dry_run(where, ignore_files=_ignore_files(call), allow=_allow(call), progress=bar)
    verbose = call.flag("verbose")
    with writing():
        if call.flag("json"):
            from lci_py.render.json.answer import dry_run_object

            write_json(dry_run_object(files, skipped, rules))
        elif sys.stdout.isatty() and not call.flag("quiet"):
            index.render_dry_run(files, skipped, rules, file=sys.stdout, verbose=verbose)
        else:
            index.render_files(files, file=paths_stdout())
    if verbose and not call.flag("json") and not sys.stdout.isatty():
        index.render_skips(skipped, rules, file=sys.stderr)
    return EXIT_OK


def run_status(call: Invocation) -> int:
    from lci_py import app
    from lci_py.render.text.index import render_status

    root = call.text("root")
    try:
        status = app.status(root, check=call.flag("check"), trust=call.flag("trust_index") or None)
    except NoIndexError:
        if root is None or not app.is_of_workspace(root):
            raise
        from lci_py.app.upkeep import workspaces

        return _list_workspaces(call, workspaces("list", [os.path.basename(root)]))  # the first search indexes it
    verbose, max_tokens = call.flag("verbose"), number(call.values, "max_tokens")
    _print(
        call,
        _fit_status(status, max_tokens) if max_tokens is not None and call.flag("json") else status,
        lambda to: render_status(status, to, verbose=verbose),
    )
    return EXIT_OK if status.get("health", "ok") in _USABLE else EXIT_INDEX


#: Keys of a status that say what is wrong with an index.
_WRONG = ("problems", "warnings")


def _fit_status(status: Mapping[str, Any], max_tokens: int) -> Mapping[str, Any]:
    """Shorten a status to a token budget by dropping its longest lists; problems are never dropped."""
    from lci_py.render.json.answer import dumps, plain_object
    from lci_py.render.token_budget import tokens

    part: dict[str, Any] = dict(status)
    dropped: list[str] = []
    lists = [key for key, value in status.items() if isinstance(value, (list, dict)) and key not in _WRONG]
    longest = sorted(lists, key=lambda key: (-len(dumps(status[key])), key))
    for key in longest:
        if tokens(dumps(plain_object(part))) <= max_tokens:
            break
        del part[key]
        dropped.append(key)
        part["truncated"] = {"max_tokens": max_tokens, "keys_dropped": dropped}
    return part


def run_workspace(call: Invocation) -> int:
    from lci_py.app import upkeep

    action, names = call.text("argument") or "", call.texts("more")
    if action not in WORKSPACE_ACTIONS:
        raise unknown_value("action", action, WORKSPACE_ACTIONS)
    if call.text("named") is not None and action != "add":
        raise UsageError(
            "--named is a flag of `lci workspace add`", hint="to rename a repository, remove it and add it again"
        )
    if action == "status":
        if len(names) != 1:
            raise UsageError("status takes one workspace", hint="lci workspace status NAME")
        try:
            return run_status(Invocation("status", {**call.values, "root": upkeep.workspace_root(names[0])}))
        except LciError as error:
            error.workspace = names[0]
            raise
    report = upkeep.workspaces(action, names, call.text("named"))
    return _list_workspaces(call, report)


def _list_workspaces(call: Invocation, report: dict[str, Any]) -> int:
    from lci_py.render.text.index import render_workspaces

    _print(call, report, lambda to: render_workspaces(report, to))
    return EXIT_OK if report.get("workspaces", True) else EXIT_NO_RESULTS


def run_stats(call: Invocation) -> int:
    from lci_py.app import upkeep
    from lci_py.render.text.stats import stats_lines

    report = upkeep.stats(call.text("root"), since=call.text("since"))
    _print(call, report, lambda to: to.lines(stats_lines(report, to.layout)))
    return EXIT_OK if report["all"]["searches"] else EXIT_NO_RESULTS


def run_clean(call: Invocation) -> int:
    from lci_py.app import upkeep
    from lci_py.render.text.index import render_cleaned

    cleaned = upkeep.clean(call.text("root"), cache_only=call.flag("cache"))
    _print(call, cleaned, lambda to: render_cleaned(cleaned, to.file))
    return EXIT_OK


def run_hook(call: Invocation) -> int:
    action, actions = call.text("argument") or "", HOOK.argument.choices if HOOK.argument else ()
    if action not in actions:
        raise unknown_value("action", action, actions)
    from lci_py.app import upkeep

    if action == "run":
        _detach()
        upkeep.run_hook(call.text("root"))
        return EXIT_OK
    from lci_py.render.text.index import render_hooks

    report = upkeep.hooks(call.text("root"), action, force=call.flag("force"))
    _print(call, report, lambda to: render_hooks(report, to))
    states = ("absent", "skipped") if action == "uninstall" else ("installed",)
    return EXIT_OK if all(hook["state"] in states for hook in report["hooks"]) else EXIT_NO_RESULTS


def _detach() -> None:
    """Detach from the terminal and from the environment of the git hook, so that the refresh can outlive both."""
    gc.enable()  # the entry point turned it off for short runs
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"):
        os.environ.pop(name, None)
    with suppress(OSError):
        os.setsid()
    with suppress(OSError):
        os.nice(10)


def run_agent(call: Invocation) -> int:
    if call.flag("user") and call.text("root") is not None:
        raise UsageError("--user and --root cannot be used together", hint="--user is about the home folder")
    action = call.text("argument") or ""
    if action == "hook":
        _answer_agent()
    from lci_py.app import upkeep
    from lci_py.render.text.agents import render_agents

    report = upkeep.agents(
        call.text("root"), action, call.texts("more"),
        user=call.flag("user"), only=call.text("only"), hooks=call.flag("hooks"),
    )  # fmt: skip
    _print(call, report, lambda to: render_agents(report, to))
    conflict = any(file["state"] == "left_alone" for agent in report["agents"] for file in agent["files"])
    return EXIT_USAGE if conflict and action != "list" else EXIT_OK


def _answer_agent() -> NoReturn:
    """Answer a coding agent's event and exit at once, with code 0 and nothing on stderr, whatever goes wrong."""
    with suppress(BaseException):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(EXIT_OK))
        signal.alarm(_HOOK_SECONDS)
        from lci_py.app import upkeep

        sys.stdout.write(upkeep.agent_hook(sys.stdin.read(_MOST_READ)))
        sys.stdout.flush()
    os._exit(EXIT_OK)


def _print(call: Invocation, report: Mapping[str, Any], render: Callable[[Page], None]) -> None:
    """Write `report` within --max-tokens: as JSON with --json, else as text by `render`. Write nothing with --quiet."""
    with writing():
        if call.flag("json"):
            from lci_py.render.json.answer import plain_object

            write_json(plain_object(report))
        elif call.flag("quiet"):
            return
        elif "max_tokens" in call.values and (max_tokens := number(call.values, "max_tokens")) is not None:
            from lci_py.render.token_budget import head

            buffer, to = io.StringIO(), screen(call)
            render(type(to)(buffer, to.layout.style.color, to.layout.width))
            to.file.write(head(buffer.getvalue(), max_tokens))
        else:
            render(screen(call))
