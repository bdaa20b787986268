"""`lci history`: the commits that changed a definition or a file, and what changed together with it."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.errors import UnknownTargetError, UsageError
from lci_py.search.answer.results import index_info
from lci_py.search.navigate.present import PresentFiles, definitions_in, file_place, innermost, present_rows
from lci_py.search.suggest import near_misses, similar_paths
from lci_py.source.repository.commits import Log, content_at_head, files_of_commits, log_of_file, log_of_lines
from lci_py.source.repository.git import git_problem, git_root, is_cut_off
from lci_py.source.repository.workspace import is_workspace, members
from lci_py.types.history import Commit, Companion, HistoryAnswer, HistoryRequest

if TYPE_CHECKING:
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.graph import Definition

#: A commit of more files says nothing about any two of them: a new licence, another formatter, a merge by squashing.
_SWEEPING = 30
#: Maximum number of newest commits whose files are read; minimum support of a companion; companions shown.
_READ, _LEAST, _SHOWN = 200, 2, 5
#: Other definitions of the name that are listed.
_OTHERS = 5
#: Why older commits may be missing.
_SLOW = "git took too long for the oldest commits"
_SHALLOW = "the clone is shallow and has no older commits: `git fetch --unshallow` gets them"


def history(snapshot: Snapshot, request: HistoryRequest) -> HistoryAnswer:
    """The commits of the definition or file that a request names.

    For a definition, the commits that changed its lines at HEAD count. The companions are files that changed in the
    same commits, with the number of these commits (support) and their share of the target's commits (confidence):
    Zimmermann et al., Mining version histories to guide software changes, 2004.

    Raises:
        UnknownTargetError: There is no such definition or file.
        UsageError: The root is in no git work tree, or git does not answer.
    """
    present = PresentFiles(snapshot)
    definition, others = _definition(snapshot, request, present)
    path = definition.file if definition is not None else request.file or ""
    folder, prefix = _repository(snapshot.root, path)
    local = path.removeprefix(prefix)
    try:
        before = content_at_head(folder, local)
        if definition is None:
            log, changed = log_of_file(folder, local), before != snapshot.reader.read(path)
        else:
            there = _in_content(before, definition)
            changed = there is None or there.digest != definition.digest
            log = Log((), True) if there is None else log_of_lines(folder, local, there.first_line, there.end_line)
        companions = _companions(folder, local, prefix, log, present)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"git cannot tell the history of {path}: {error}", hint="see `git log` there") from error
    incomplete = _SLOW if not log.whole else _SHALLOW if log.commits and is_cut_off(folder, log.commits[-1].id) else ""
    commits = [_commit(item, local, prefix, patch=request.patch) for item in log.commits]
    return HistoryAnswer(
        request,
        file_place(path, present.language(path)) if definition is None else definition.place,
        tuple(commits[request.offset : request.offset + request.limit]),
        len(commits),
        None if incomplete or not commits else commits[-1],
        companions,
        index_info(snapshot),
        tuple(item.place for item in others[:_OTHERS]),
        uncommitted=changed,
        incomplete=incomplete,
    )


# --- what is meant ----------------------------------------------------------------------------------------------


def _definition(
    snapshot: Snapshot, request: HistoryRequest, present: PresentFiles
) -> tuple[Definition | None, list[Definition]]:
    """(definition, others): the current definition, None if a whole file is meant; other definitions of the name."""
    symbols = snapshot.symbols
    if request.file is not None:
        if snapshot.reader.read(request.file) is None:
            raise UnknownTargetError(f"there is no file {request.file}", similar_paths(request.file, symbols.paths()))
        if request.line is None:
            return None, []
        enclosing = innermost(present.definitions(request.file), request.line)
        if enclosing is None:
            hint = f"`lci history {request.file}` shows the commits of the file"
            raise UnknownTargetError(f"no definition is at {request.spelled}", (), hint)
        return enclosing, []
    rows = present_rows(present, request.name, request.filters)
    definitions = [d for row in rows if (d := present.find(row["file"], row["id"])) is not None]
    if not definitions:
        near = near_misses(symbols, request.name)
        raise UnknownTargetError(f"nothing is named {request.name!r}", near, "", index_info(snapshot))
    # Of overloads, which are one thing, the longest has the body.
    first = definitions[0]
    alike = [d for d in definitions if (d.file, d.qualified_name) == (first.file, first.qualified_name)]
    longest = max(alike, key=lambda d: d.end_line - d.line)
    return longest, [d for d in definitions if d not in alike]


def _repository(root: Path, path: str) -> tuple[Path, str]:
    """(folder, prefix): the folder of the repository that contains a path; its name in a workspace, with a slash.

    Raises:
        UsageError: The path is in no git work tree, or git does not answer there.
    """
    folder, prefix = root, ""
    if is_workspace(root):
        name = path.partition("/")[0]
        folder, prefix = Path(members(root)[name]), f"{name}/"
    if git_root(folder) is None:
        raise UsageError(f"{folder} is not in a git work tree", hint="there is no history without git")
    if problem := git_problem(folder):
        raise UsageError(problem, hint="lci asks git for the history")
    return folder, prefix


def _in_content(data: bytes | None, definition: Definition) -> Definition | None:
    """The same definition in another version of its file; None if that version has no definition of its name."""
    others = definitions_in(definition.file, data) if data is not None else []
    by_name = [d for d in others if d.qualified_name == definition.qualified_name]
    return next((d for d in others if d.id == definition.id), by_name[0] if by_name else None)


# --- what git says ----------------------------------------------------------------------------------------------


def _commit(commit: Commit, path: str, prefix: str, *, patch: bool) -> Commit:
    # git names files from the top of the repository, which may be above the root: only another name says something.
    file = path if not commit.file or commit.file == path or commit.file.endswith(f"/{path}") else commit.file
    return commit._replace(file=prefix + file, patch=commit.patch if patch else "")


def _companions(folder: Path, path: str, prefix: str, log: Log, present: PresentFiles) -> tuple[Companion, ...]:
    """The files that changed most often in the commits of the target and still exist."""
    changed = files_of_commits(folder, [commit.id for commit in log.commits[:_READ]])
    commits = [set(names) for names in changed.values() if 0 < len(names) <= _SWEEPING]
    counts = Counter(name for names in commits for name in names if name != path)
    often = sorted(((-count, name) for name, count in counts.items() if count >= _LEAST))
    there = [
        (name, -count) for count, name in often[: 4 * _SHOWN] if present.snapshot.reader.read(prefix + name) is not None
    ]
    return tuple(Companion(prefix + name, count, count / len(commits)) for name, count in there[:_SHOWN])
