"""Reads from git's log which commits changed a file, or some lines of a file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lci_py.source.repository.git import git_output, run_git
from lci_py.types.history import Commit
from lci_py.types.record import NamedTuple

#: Seconds for one log: to follow lines through a long history takes git some.
_SECONDS = 60.0
# Whatever the repository's configuration says, a log runs no program (textconv, an external diff, gpg).
_QUIET = (
    "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--no-mailmap",
    "--submodule=short", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"--format={_RECORD}%H{_FIELD}%aI{_FIELD}%an{_FIELD}%s"


class Log(NamedTuple):
    """Commits, the newest first. Their paths are relative to the top of the repository, "" if git names none."""

    commits: tuple[Commit, ...]
    whole: bool  # whether git had time for all of them


def log_of_lines(folder: Path, path: str, first: int, last: int) -> Log:
    """The commits that changed lines `first` to `last` of a file. The lines are those at HEAD; renames are followed.

    Args:
        folder: A folder in a work tree.
        path: The path of the file, relative to `folder`.
    Raises:
        OSError: git cannot be started, or cannot answer.
    """
    return _log(folder, f"-L{first},{last}:{path}")


def log_of_file(folder: Path, path: str) -> Log:
    """The commits that changed a file; renames are followed. Arguments and errors as for `log_of_lines`."""
    return _log(folder, "--follow", "--patch", "--no-merges", "HEAD", "--", path)


def _log(folder: Path, *arguments: str) -> Log:
    command = ("-c", "core.quotePath=false", "log", *_QUIET, _FORMAT, *arguments)
    try:
        output, whole = git_output(folder, *command, seconds=_SECONDS), True
    except subprocess.TimeoutExpired as error:
        output, whole = error.stdout or b"", False
    # Lines of a patch begin with a sign of their own, so a record begins where a line does.
    records = f"\n{output.decode('utf-8', 'replace')}".split(f"\n{_RECORD}")[1:]
    return Log(tuple(map(_parse_record, records if whole else records[:-1])), whole)


def _parse_record(record: str) -> Commit:
    head, _, patch = record.partition("\n")
    id, date, author, subject = head.split(_FIELD, 3)
    path, added, removed, hunks = "", 0, 0, []
    for line in patch.split("\n"):
        if line.startswith("@@"):
            hunks.append(line)
        elif not hunks:
            if line.startswith("+++ b/") or (line.startswith("--- a/") and not path):
                path = line[6:].removesuffix("\t")
        elif line[:1] in ("+", "-", " ", "\\"):
            hunks.append(line)
            added, removed = added + (line[0] == "+"), removed + (line[0] == "-")
    return Commit(id, date, author, subject, added, removed, path, "\n".join(hunks))


def files_of_commits(folder: Path, ids: list[str]) -> dict[str, list[str]]:
    """Maps commit ids to paths of files: those below `folder` that the commit changed, relative to it; [] for a merge.

    Raises:
        OSError: git cannot be started, or cannot answer.
        subprocess.SubprocessError: git took too long.
    """
    if not ids:
        return {}
    output = git_output(
        folder, "log", "--no-walk=unsorted", "--name-only", "-z", "--relative", *_QUIET, f"--format={_RECORD}%H", *ids,
        seconds=_SECONDS,
    )  # fmt: skip
    files = {}
    for record in output.decode("utf-8", "surrogateescape").split(_RECORD)[1:]:
        id, *names = record.split("\0")
        files[id] = [name.removeprefix("\n") for name in names if name.strip("\n")]
    return files


def content_at_head(folder: Path, path: str) -> bytes | None:
    """The content of a file at HEAD; None if HEAD does not have the file. `path` is relative to `folder`.

    Raises:
        OSError: git cannot be started.
        subprocess.SubprocessError: git took too long.
    """
    process = run_git(folder, "cat-file", "blob", f"HEAD:./{path}")
    return process.stdout if process.returncode == 0 else None
