"""The errors that a user can see. Each has a code for scripts, a message, a hint what to do, and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.types.search import IndexInfo

EXIT_OK = 0
EXIT_NO_RESULTS = 1
EXIT_USAGE = 2
EXIT_INDEX = 3
EXIT_DEGRADED = 4
EXIT_INTERRUPTED = 130


class Indexing(NamedTuple):
    """A hint to run `lci index`. The command in it names the workspace, if there is one, or else `root`."""

    before: str = "run "
    flags: str = ""  # of `lci index`
    after: str = ""
    root: str = ""  # to name where no workspace is

    def hint(self, workspace: str) -> str:
        what = f"--workspace {workspace}" if workspace else self.root
        return f"{self.before}`{' '.join(filter(None, ('lci index', self.flags, what)))}`{self.after}"


class Words(NamedTuple):
    """A hint in two wordings: for a shell, and for a client of `lci mcp`, which has tools."""

    shell: str
    tools: str

    def hint(self, _workspace: str) -> str:
        return self.shell


class LciError(Exception):
    """Base of every error that a user can see."""

    code = "error"
    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, hint: str | Indexing | Words = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self._hint = hint
        self.workspace = ""  # the name of the one that was asked about
        self.details = details  # extra JSON fields, such as valid_modes

    def __reduce__(self) -> tuple[Any, ...]:
        """Tell pickle how to make a copy: most subclasses have other constructor arguments than this class."""
        return _with_state, (type(self), self.__dict__)

    @property
    def hint(self) -> str:
        return self._hint if isinstance(self._hint, str) else self._hint.hint(self.workspace)

    @hint.setter
    def hint(self, hint: str | Indexing | Words) -> None:
        self._hint = hint

    def for_tools(self) -> LciError:
        """The same error, with the hint in the wording for a client of `lci mcp`."""
        if isinstance(self._hint, Words):
            self._hint = self._hint.tools
        return self

    def as_json(self) -> dict[str, Any]:
        """The `error` object of the JSON output."""
        return {"code": self.code, "message": self.message, "hint": self.hint, **self.details}


def _with_state(kind: type[LciError], state: dict[str, Any]) -> LciError:
    error = kind.__new__(kind, state["message"])
    error.__dict__.update(state)
    return error


class UsageError(LciError):
    """A flag, a query or a path that cannot be used."""

    code = "usage"


class UnknownModeError(UsageError):
    code = "unknown_mode"

    def __init__(self, mode: str) -> None:
        from lci_py.types.search import MODES

        names = ", ".join(MODES)
        super().__init__(f"unknown mode {mode!r}", hint=f"use one of: {names}", valid_modes=list(MODES))


def unknown_value(what: str, value: str, valid: Sequence[str]) -> UsageError:
    """An error that says that `value` is not one of the `valid` ones."""
    from difflib import get_close_matches

    near = get_close_matches(value.lower(), valid, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(valid)}"
    return UsageError(f"unknown {what} {value!r}", hint=hint)


class UnknownTargetError(UsageError):
    """An argument that names no definition, no result and no file."""

    code = "unknown_target"

    def __init__(
        self, message: str, near: Sequence[str] = (), what: str | Words = "", index: IndexInfo | None = None
    ) -> None:
        """Make the error, with the similar names as its hint.

        Args:
            message: Says which target does not exist.
            near: Names that the user may have meant.
            what: The hint if `near` is empty.
            index: The state of the index, which may lack the target.
        """
        if near:
            *some, last = near
            what = f"did you mean {', '.join(some)} or {last}?" if some else f"did you mean {last}?"
        more = {}
        if index is not None and index.behind:
            before = what if isinstance(what, Words) else Words(what, what)
            what = Words(*(f"{words}{'; ' if words else ''}{index.advice}" for words in before))
            more = {"stale_files": index.stale_files, "unchecked_files": index.unchecked_files}
        super().__init__(message, hint=what, near=list(near), **more)


class BadGlobError(UsageError):
    code = "bad_glob"


class BadPatternError(UsageError):
    """A pattern that is no regular expression."""

    code = "bad_pattern"


class BadPathError(UsageError):
    """A path that does not exist or cannot be read."""

    code = "bad_path"


class ConfigError(UsageError):
    code = "bad_config"


def unknown_refresh(value: str) -> UsageError:
    """The error for a value of --refresh that does not exist."""
    from lci_py.types.search import REFRESH

    return UsageError(f"--refresh cannot be {value!r}", hint=f"use one of: {', '.join(REFRESH)}")


def near_needs_words() -> UsageError:
    """The error for --near without a query."""
    return UsageError("--near needs a QUERY with words", hint="with filters alone, nothing is ranked")


def nothing_asked() -> UsageError:
    """The error for a search without a query and without a filter."""
    hint = Words("give a QUERY, or a filter such as --kind or --path", "give a query, or a filter such as kind or path")
    return UsageError("nothing to search for", hint=hint)


class HookError(UsageError):
    """A git hook that cannot be read, written or removed."""

    code = "hook"


class BadModelError(UsageError):
    """A model folder without a model that this program can run."""

    code = "bad_model"


class IndexError_(LciError):
    """Base of the errors about the index, with which the program exits with code 3."""

    code = "index"
    exit_code = EXIT_INDEX


class NoIndexError(IndexError_):
    code = "no_index"

    def __init__(self, root: str, enclosing: str = "", *, lost: bool = False) -> None:
        """`enclosing`: the root of an index that contains `root`; `lost`: `root` is or contains the home folder."""
        more = f"; {enclosing}, around it, has an index of its own, read with `--root {enclosing}`" if enclosing else ""
        lost_hint = f"go to a project, or name its folder with `--root PATH`{more}"
        super().__init__(f"no index at {root}", hint=lost_hint if lost else Indexing(after=more, root=root))


class IndexBehindError(IndexError_):
    """The call graph lacks a definition that is newer than the index."""

    code = "index_behind"

    def __init__(self, name: str, location: str, changed: int) -> None:
        """`location` is FILE:LINE of the definition, and `changed` the number of files that have changed."""
        super().__init__(
            f"{name!r} is defined at {location}, which has changed since it was indexed ({changed:,} files have): "
            "who calls it and what it calls is not known yet",
            hint=Indexing(),
            stale_files=changed,
        )


class TooLargeError(IndexError_):
    """There is no index, and the tree is too large for a search to build one."""

    code = "no_index"

    def __init__(self, root: str, files: int, size: int, *, outside: bool = False) -> None:
        """`files` and `size` (in bytes) are the limits; `outside` says that the folder is in no git work tree."""
        message = (
            f"no index at {root}, which has over {files:,} files or {size / 1e6:,.0f} MB, too many to index on the fly"
        )
        hint: str | Indexing = Indexing(root=root)
        if outside:
            message = f"{root} is in no git work tree, and has over {files:,} files or {size / 1e6:,.0f} MB"
            hint = f"`lci index --dry-run {root}` lists them, `lci index --yes {root}` indexes them all the same"
        super().__init__(message, hint=hint, most_files=files, most_bytes=size)


class ShardVersionError(IndexError_):
    """A shard (a file of the index) was written in a format that this build does not read."""

    code = "index_version"

    def __init__(self, path: str, *, version: object, readable: object) -> None:
        self.newer = isinstance(version, int) and isinstance(readable, int) and version > readable
        older = isinstance(version, int) and not self.newer
        self.outgrown = type(version) is int and older and version > 0  # what an earlier program made
        super().__init__(
            f"{path} is of {'a newer' if self.newer else 'an older' if older else 'another'} format "
            f"({_clip(version)}; this build reads {readable})",
            hint=Indexing("upgrade lci-py, or run ", "--full", " to replace it") if self.newer else Indexing(),
        )


def _clip(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 20 else f"{text[:19]}…"


class DamagedIndexError(IndexError_):
    code = "index_damaged"

    def __init__(self, what: str) -> None:
        super().__init__(f"the index is damaged: {what}", hint=Indexing(flags="--full", after=" to rebuild it"))


class UntrustedIndexError(IndexError_):
    """The index was not sealed (signed) with this user's key: it came with a clone, or from another machine or user."""

    code = "index_untrusted"

    def __init__(self, index_dir: str) -> None:
        super().__init__(
            f"the index in {index_dir} is not trusted: it was not made by you on this machine",
            hint=Indexing(after=" to rebuild it, or pass --trust-index if you mean it"),
        )


class TrustKeyError(IndexError_):
    """The key that seals (signs) indexes cannot be made, or somebody else could have made it."""

    code = "index_key"


class ShardMissingError(IndexError_):
    code = "shard_missing"


class DensePendingError(ShardMissingError):
    """The index was made with --defer-dense, and not all of its chunks have been embedded as vectors yet."""

    code = "dense_pending"

    def __init__(self, chunks: int) -> None:
        super().__init__(
            f"{chunks:,} chunks are not embedded yet", hint=Indexing(after=" to embed them"), pending=chunks
        )


class GraphPendingError(ShardMissingError):
    """The index can be searched, and its call graph is still being built."""

    code = "graph_pending"

    def __init__(self) -> None:
        super().__init__(
            "the call graph is not built yet", hint=Indexing("", "", " builds it, or waits for the run that does")
        )


class WrongRootError(IndexError_):
    """An index folder outside of the repository holds the index of another repository."""

    code = "wrong_root"

    def __init__(self, index_dir: str, *, actual: str, expected: str) -> None:
        super().__init__(
            f"{index_dir} holds the index of {actual}, not of {expected}",
            hint="give each repository an LCI_INDEX_DIR of its own",
        )


class ModelMismatchError(IndexError_):
    code = "model_mismatch"


class IndexWriteError(IndexError_):
    """The index could not be written: a full disk, a read-only folder, another writer."""

    code = "index_write"


class DiskFullError(IndexWriteError):
    """There is no room for the index."""

    code = "disk_full"


class ForeignFolderError(IndexWriteError):
    """The index folder holds files that lci did not write."""

    code = "foreign_folder"

    def __init__(self, index_dir: str, names: Sequence[str]) -> None:
        listing = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
        super().__init__(
            f"{index_dir} is not an index folder: it holds {listing}, which lci did not write",
            hint="let LCI_INDEX_DIR name a new or empty folder, or move these files away",
        )


class BudgetExceededError(LciError):
    """The only view (way to search) that was asked took longer than --budget-ms."""

    code = "budget_exceeded"
    exit_code = EXIT_DEGRADED

    def __init__(self, view: str, budget_ms: int, took_ms: float) -> None:
        super().__init__(
            f"{view} answered after {took_ms:,.0f} ms, with a time budget of {budget_ms:,} ms",
            hint="raise --budget-ms, or search with --mode multiview, which answers with the views that are ready",
            budget_ms=budget_ms,
        )


class InterruptedRun(LciError):
    """Ctrl-C ended the run. An index is replaced as a whole or not at all; files extracted so far are kept."""

    code = "interrupted"
    exit_code = EXIT_INTERRUPTED

    def __init__(self, count: int = 0, files: int = 0) -> None:
        """`count` of `files` files need not be extracted again; `files` is 0 if nothing was being extracted."""
        if count:
            message = f"stopped: {count:,} of {files:,} files are kept"
            hint = Indexing("", "", " goes on from there")
            super().__init__(message, hint=hint, kept_files=count, files=files)
        else:
            super().__init__("interrupted", hint="the index is unchanged; run the command again")
