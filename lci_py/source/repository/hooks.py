"""Installs git hooks that refresh the index in the background.

lci adds its commands to a hook as a marked block of shell at the start of the file: many hooks end with `exec` or
`exit`, so that lines at the end would never run.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lci_py.errors import HookError
from lci_py.source.repository.files import replace_file
from lci_py.source.repository.git import run_git

HOOKS = ("post-commit", "post-checkout", "post-merge", "post-rewrite")
_BEGIN = "# >>> lci: refreshes the code index; `lci hook uninstall` removes these lines >>>"
_END = "# <<< lci <<<"
_BLOCK = re.compile(re.escape(_BEGIN) + r"\n.*?" + re.escape(_END) + r"\n", re.DOTALL)
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash")
_SHEBANG = "#!/bin/sh\n"
_MAX_BYTES = 1_000_000
_GIT_SECONDS = 10


class HookState(NamedTuple):
    """The state of one hook: whether the hook refreshes the index and, if not, why."""

    name: str
    state: Literal["installed", "outdated", "absent", "skipped"]
    detail: str = ""


def hooks(root: Path, action: str, *, force: bool = False, program: Sequence[str] | None = None) -> dict[str, Any]:
    """Install, remove or inspect the hooks of the git work tree around `root`.

    Args:
        action: install, uninstall or status.
        force: Write even into a hooks folder that other repositories share.
        program: The command that runs lci; by default, the command that started this process.
    Returns:
        A dict of the new state: `folder` (of the hooks), `shared` (whether other repositories use it), `changed` (the
        names of changed hooks), and `hooks` (a `HookState` for each hook).
    Raises:
        HookError: There is no git or no work tree, the folder is shared, a file cannot be written, or hooks could not
            start lci safely.
    """
    folder, shared = _hooks_folder(root)
    if shared and action != "status" and not force:
        raise HookError(
            f"the hooks of this repository are in {folder}, outside of it (core.hooksPath)",
            hint=f"other repositories may use them, too; lci hook {action} --force writes there all the same",
        )
    block = _block(program or _program(check=action == "install"))
    changed = []
    for name in HOOKS if action != "status" else ():
        try:
            if _apply(folder / name, block if action == "install" else ""):
                changed.append(name)
        except OSError as error:
            message = f"cannot change {folder / name}: {error.strerror or error}"
            raise HookError(message, hint="make the folder writable") from error
    return {
        "folder": str(folder),
        "shared": shared,
        "changed": changed,
        "hooks": [_look(folder / name, block) for name in HOOKS],
    }


def _program(*, check: bool = False) -> list[str]:
    """The command by which hooks start lci.

    A hook runs in the work tree, whose files may be those of any branch. `python -m lci_py` would import them: Python
    puts the current folder first on its path. So the command is the script `lci`, or Python in isolation (-I), which
    uses neither the current folder nor PYTHONPATH nor the user's own packages.

    Raises:
        HookError: With `check`: this process was not started as `lci`, and Python in isolation does not find lci_py.
    """
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == "lci" and os.access(started, os.X_OK):
        return [started]
    isolated = [sys.executable, "-I"]
    if check and subprocess.run([*isolated, "-c", "import lci_py"], capture_output=True, check=False).returncode:
        raise HookError(
            "hooks cannot start lci: `python -I`, which imports nothing from the work tree, does not find lci_py",
            hint="run `lci hook install` instead of `python -m lci_py hook install`",
        )
    return [*isolated, "-m", "lci_py"]


def _block(program: Sequence[str]) -> str:
    """The lines of shell that lci adds to a hook. A subshell leaves the hook's `set -e`, `wait` and exit code alone."""
    first = shlex.quote(program[0])
    return f"""{_BEGIN}
(
  if [ -x {first} ]; then set -- {shlex.join(program)}; else set -- lci; fi
  "$@" hook run &
) </dev/null >/dev/null 2>&1 || :
{_END}
"""


# --- one file -----------------------------------------------------------------------------------------------------


def _look(path: Path, block: str) -> HookState:
    try:
        text = _read(path)
    except HookError as error:
        return HookState(path.name, "skipped", error.message)
    if text is None or _BEGIN not in text:
        why = _unfit(path, text) if text else ""
        return HookState(path.name, "skipped" if why else "absent", why)
    if not os.access(path, os.X_OK):
        return HookState(path.name, "outdated", "is not executable: git ignores it")
    return HookState(path.name, "installed" if block in text else "outdated")


def _apply(path: Path, block: str) -> bool:
    """Replace the lines that lci has added to a hook by `block` ("" removes them); returns whether the file changed.

    A hook that is no shell script, or is not executable, is left alone.
    """
    try:
        text = _read(path)
    except HookError:
        return False
    if text is None or not text:
        return bool(block) and _write(path, _SHEBANG + block, 0o755)
    if (_unfit(path, text) and _BEGIN not in text) or text.count(_BEGIN) != len(_BLOCK.findall(text)):
        return False
    rest = _BLOCK.sub("", text)
    if not block and rest != text and not rest.removeprefix(_SHEBANG).strip():
        path.unlink()
        return True
    head, _, tail = rest.partition("\n") if rest.startswith("#!") else ("", "", rest)
    updated = f"{head}\n{block}{tail}" if head and block else block + rest
    is_own = not rest.removeprefix(_SHEBANG).strip()
    mode = stat.S_IMODE(path.stat().st_mode) | (0o111 if is_own else 0)
    if updated == text and mode == stat.S_IMODE(path.stat().st_mode):
        return False
    return _write(path, updated, mode)


def _unfit(path: Path, text: str | None) -> str:
    """The reason why lci's lines cannot be added to an existing hook; "" if they can."""
    text = text or ""
    if text.startswith("#!"):
        words = text[2:].partition("\n")[0].split()
        names = [os.path.basename(word) for word in words if "=" not in word and not word.startswith("-")]
        name = names[1] if names[:1] == ["env"] and len(names) > 1 else "".join(names[:1])
        if name not in _SHELLS:
            return f"is not a shell script but {name or 'something else'}: call `lci hook run` from it"
    if text.count(_BEGIN) != len(_BLOCK.findall(text)):
        return "has only some of the lines of lci: remove them by hand"
    if text.strip() and not os.access(path, os.X_OK):
        return "is not executable: git goes on ignoring it"
    return ""


def _read(path: Path) -> str | None:
    """The text of a hook; "" for an empty file, None if there is no file."""
    try:
        if path.is_symlink():
            raise HookError("is a symbolic link: call `lci hook run` from the file that it leads to")
        if not path.exists():
            return None
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            raise HookError("is not a script")
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise HookError(f"cannot be read: {error.strerror}") from error
    if "\0" in text:
        raise HookError("is not a script: call `lci hook run` from it")
    return text


def _write(path: Path, text: str, mode: int) -> bool:
    """Replace a hook in one step, since git may be about to run it; returns whether the file changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(str(path), text.encode("utf-8", "surrogateescape"), mode)
    return True


# --- git ----------------------------------------------------------------------------------------------------------


def _hooks_folder(root: Path) -> tuple[Path, bool]:
    """(folder that git runs hooks from, whether the folder is outside of the repository)."""
    lines = _git(root, "--show-toplevel", "--git-common-dir", "--git-path", "hooks").split("\n")
    if len(lines) != 3:
        raise HookError(f"{root} is not in a git work tree", hint="run it in a repository, or see --root")
    top, common, folder = (Path(os.path.realpath(os.path.join(root, item))) for item in lines)
    inside = folder.is_relative_to(top) or folder.is_relative_to(common)
    return folder, not inside


def _git(root: Path, *arguments: str) -> str:
    try:
        process = run_git(root, "rev-parse", *arguments, hooks=True, seconds=_GIT_SECONDS)
    except FileNotFoundError as error:
        raise HookError("git is not installed", hint="hooks are git's: install it first") from error
    except subprocess.TimeoutExpired as error:
        message = f"git has not answered for {_GIT_SECONDS} seconds"
        raise HookError(message, hint="run `git rev-parse --git-path hooks` to see whether it hangs") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise HookError(f"git cannot be asked: {error}", hint="run `git status` to see what is wrong") from error
    if process.returncode:
        said = os.fsdecode(process.stderr).strip().partition("\n")[0].removeprefix("fatal: ")
        raise HookError(
            f"{root} is not a git work tree that git can use ({said})", hint="run it in a repository, or see --root"
        )
    return os.fsdecode(process.stdout).removesuffix("\n")
