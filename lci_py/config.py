"""Reads the settings. A flag takes precedence over the environment, then come .lci.toml and the defaults."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import BadPathError, ConfigError
from lci_py.source.repository.workspace import is_workspace
from lci_py.source.text import parse_toml
from lci_py.types.record import dataclass, fields
from lci_py.types.search import MODES, REFRESH, Mode

if TYPE_CHECKING:
    from lci_py.source.repository.walk import WalkOptions
    from lci_py.source.syntax.limits import Limits

CONFIG_FILE = ".lci.toml"
INDEX_FOLDER = ".lci"
#: A predicate `f` is called with the name of a flag; with `settings.*` the flag is an attribute.
FEATURE_FLAGS = (
    "is_enabled", "isEnabled", "feature_enabled", "featureEnabled", "is_feature_enabled", "isFeatureEnabled",
    "feature_is_enabled", "flag_enabled", "flagEnabled", "enabled?", "feature_enabled?",
)  # fmt: skip
#: Whether searches are logged, and whether their queries are too.
LOGS = ("off", "on", "queries")
_MAX_CONFIG_BYTES = 64_000
#: A key of many parts, as in `a.b.c = 1`, takes memory by the square of their number.
_MAX_KEY_PARTS = 100
_DEEP_KEY = rf"(?:\.[^.=,\[\]{{}}\n]*){{{_MAX_KEY_PARTS}}}"
_MAX_LINE_DOTS = 1_000  # of a line, whatever is between them
#: Workers that any machine may have, and workers of one core.
_FEW_JOBS, _JOBS_OF_A_CORE = 32, 4
_MAX_WARNINGS = 5
_MAX_BRANCHES = 64
#: What macros of C and C++ do; the digit is the number of the argument that names what is defined.
MACROS = ("attribute", "loop", "function_1", "function_2", "function_3", "variable_1", "variable_2", "variable_3")
_MAX_MACROS = 500


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, as flags, environment variables and .lci.toml give them."""

    index_dir: Path | None = None  # None: INDEX_FOLDER in the root
    include: tuple[str, ...] = ()  # gitignore-style globs
    exclude: tuple[str, ...] = ()  # gitignore-style globs
    max_file_bytes: int = 2_000_000
    hidden: bool = False
    jobs: int | None = None  # None: as many as there are cores
    snippet: int | None = None  # lines of code per result; None: 4 on a terminal, else 2
    limit: int = 10  # results shown
    model: Path | None = None  # folder of the embedding model; None: the one in the package
    refresh: str = "auto"  # one of types.REFRESH: whether a search refreshes the index first
    trust: bool = False  # read an index that somebody else made
    segment_chunks: int = 50_000  # what a run of `lci index` holds in memory at a time
    feature_flags: tuple[str, ...] = FEATURE_FLAGS  # predicates that ask for a feature flag
    macros: tuple[str, ...] = ()  # of C and C++, as `MACROS` describes them
    branches: tuple[str, ...] | None = None  # to index beside the tree; None: those that the index has
    max_line_bytes: int = 20_000
    max_nesting: int = 500  # depth of a syntax tree
    max_file_symbols: int = 20_000
    max_file_chunks: int = 10_000
    max_file_seconds: float = 10.0
    log: str = "off"  # one of LOGS
    mode: Mode = "dense"  # of a search without --mode
    auto_index: bool = True  # whether a search in a tree without an index makes one

    def walk_options(self) -> WalkOptions:
        """The options of the walk, taken from these settings."""
        from lci_py.source.repository.walk import WalkOptions

        return WalkOptions(
            max_file_bytes=self.max_file_bytes, include=self.include, exclude=self.exclude, hidden=self.hidden
        )

    def limits(self) -> Limits:
        """The limits on the cost of one file, taken from these settings."""
        from lci_py.source.syntax.limits import Limits

        return Limits(
            max_line_bytes=self.max_line_bytes,
            max_nesting=self.max_nesting,
            max_file_symbols=self.max_file_symbols,
            max_file_chunks=self.max_file_chunks,
            max_file_seconds=self.max_file_seconds,
            macros=self.macros,
        )


# Two are missing: a file that comes with a clone must not choose where this program writes, nor what it trusts.
FILE_KEYS = tuple(field.name for field in fields(Settings) if field.name not in ("index_dir", "trust"))


def load(root: Path, overrides: Mapping[str, object] | None = None) -> tuple[Settings, list[str]]:
    """(settings, warnings): the settings for the repository at `root`, and why entries of .lci.toml are ignored.

    Args:
        root: The folder that may hold a .lci.toml.
        overrides: Maps fields of `Settings` to the values of flags; None means that the flag was not used.
    Raises:
        ConfigError: If a value has the wrong type or range, or .lci.toml cannot be read or parsed.
    """
    values: dict[str, Any] = {}
    raw = _read_file(root / CONFIG_FILE)
    unknown = [key for key in raw if key not in FILE_KEYS]
    warnings = [_unknown_key(key) for key in unknown[:_MAX_WARNINGS]]
    if len(unknown) > _MAX_WARNINGS:
        warnings.append(f"and {len(unknown) - _MAX_WARNINGS} more unknown keys in {CONFIG_FILE}")
    for key in FILE_KEYS:
        if key in raw:
            values[key] = _CHECKS[key](f"{key} in {CONFIG_FILE}", raw[key])
    if "model" in values:
        values["model"] = _model_folder(root, values["model"])  # elsewhere a path starts at the current folder
    environment = _from_environment()
    if values.get("log") == "queries":
        # A file that comes with a clone must not choose that queries are logged.
        values["log"] = "on"
        if "log" not in environment:
            warnings.append(
                f'log = "queries" in {CONFIG_FILE} counts as "on": only LCI_LOG=queries keeps what was asked'
            )
    values.update(environment)
    if is_workspace(root):
        values.pop("index_dir", None)  # it is the folder of one repository's index, and a workspace has its own
    for key, value in (overrides or {}).items():
        if key not in _CHECKS:
            raise ConfigError(f"unknown setting {key!r}", hint=f"settings are: {', '.join(_CHECKS)}")
        if value is not None:
            values[key] = _CHECKS[key](f"--{key.replace('_', '-')}", value)
    return Settings(**values), warnings


def _model_folder(root: Path, model: Path) -> Path:
    """The absolute folder of the model that .lci.toml names. It must be in the repository: a clone may bring the file.

    Raises:
        ConfigError: The folder is outside of the repository.
    """
    folder = root / model
    if not folder.resolve().is_relative_to(root.resolve()):
        raise ConfigError(
            f"model in {CONFIG_FILE} leads out of {root}: {model}", hint="name such a folder with --model or LCI_MODEL"
        )
    return folder


def find_root(start: Path | None = None) -> Path:
    """The root of the repository that `start` (default: the current folder) belongs to.

    Returns:
        The nearest of `start` and its parents with an index or a `.git`, else the folder itself; absolute. A `.git`
        ends the search, be it a folder or the file of a linked worktree or submodule: an index further out is about
        another work tree.
    Raises:
        BadPathError: If `start` does not exist.
    """
    try:
        folder = (start or Path()).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        name = str(start) if start else "the current folder"
        raise BadPathError(f"cannot open {name}: {_reason(error)}", hint="give an existing folder") from error
    if not folder.is_dir():
        folder = folder.parent
    for candidate in (folder, *folder.parents):
        # os.path rather than Path: it answers False, not PermissionError, for a parent that may not be searched.
        if has_index(candidate) or os.path.exists(os.path.join(candidate, ".git")):
            return candidate
    return folder


def has_index(folder: Path) -> bool:
    """Whether a folder has an index at the usual place, even if the index is damaged or out of date."""
    return os.path.isfile(os.path.join(folder, INDEX_FOLDER, "manifest.json"))


def in_work_tree(folder: Path) -> bool:
    """Whether a folder, or one of its parents, is a git repository."""
    return any(os.path.exists(os.path.join(parent, ".git")) for parent in (folder, *folder.parents))


def index_around(root: Path) -> Path | None:
    """The nearest parent of `root` with an index; a command in `root` does not read that index."""
    return next((folder for folder in root.parents if has_index(folder)), None)


def _read_file(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        # It may have come with a clone: a link may lead anywhere, and opening a FIFO would block.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise ConfigError(f"{path} is not a regular file", hint="remove it, or make it a TOML file")
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            data = file.read(_MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {_reason(error)}", hint="check its permissions") from error
    if len(data) > _MAX_CONFIG_BYTES:
        raise ConfigError(f"{path} is larger than {_MAX_CONFIG_BYTES:,} bytes", hint="put ignore rules into .lciignore")
    try:
        text = data.decode("utf-8-sig")
        if re.search(_DEEP_KEY, text) or any(line.count(".") > _MAX_LINE_DOTS for line in text.splitlines()):
            raise ConfigError(
                f"{path} has a key of more than {_MAX_KEY_PARTS} parts", hint="remove it: no setting has so many"
            )
        return parse_toml(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, UnicodeDecodeError; brackets without end
        why = _clip(str(error))
        raise ConfigError(f"{path} is not valid TOML: {why}", hint="fix the syntax, or remove the file") from error


def _from_environment() -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in ("LCI_INDEX_DIR", "LCI_MODEL", "LCI_JOBS", "LCI_REFRESH", "LCI_LOG", "LCI_MODE"):
        key = name.removeprefix("LCI_").lower()
        # An empty variable counts as unset: in a shell, `LCI_JOBS= lci index` switches it off.
        if text := os.environ.get(name):
            try:
                values[key] = _CHECKS[key](name, int(text) if key == "jobs" else text)
            except ValueError as error:
                raise ConfigError(f"{name} must be a number, not {text!r}", hint="set it to 1 or more") from error
    if trust := os.environ.get("LCI_TRUST_INDEX"):
        if trust not in ("0", "1"):
            raise ConfigError(f"LCI_TRUST_INDEX must be 1 or 0, not {trust!r}", hint="unset it, or set it to 1")
        values["trust"] = trust == "1"
    return values


def _unknown_key(key: str) -> str:
    import difflib

    key = _clip(key)
    close = difflib.get_close_matches(key, FILE_KEYS, n=1)
    hint = f", did you mean {close[0]!r}?" if close else f"; the keys are: {', '.join(FILE_KEYS)}"
    return f"unknown key {key!r} in {CONFIG_FILE}{hint}"


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _jobs(what: str, value: object) -> int:
    """Check a number of workers, and reduce it to a few per core."""
    return min(_whole_number(1)(what, value), max(_FEW_JOBS, _JOBS_OF_A_CORE * (os.cpu_count() or 1)))


def _whole_number(minimum: int, maximum: int = 2**31 - 1) -> Callable[[str, object], int]:
    """A function that checks for a whole number from `minimum` to `maximum`. The default `maximum` fits C integers."""

    def check(what: str, value: object) -> int:
        # bool is an int to Python, but `jobs = true` is a mistake.
        if isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum:
            return value
        bounds = f"{minimum} or more" if isinstance(value, int) and value < minimum else f"{minimum} to {maximum}"
        raise ConfigError(f"{what} must be a whole number, {bounds}, not {_clip(repr(value))}", hint="correct it")

    return check


def _clip(text: str) -> str:
    return text if len(text) <= 100 else text[:99] + "…"


def _seconds(what: str, value: object) -> float:
    # The comparison is false for NaN; timers take no larger values.
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0.001 <= value <= 86_400:
        raise ConfigError(
            f"{what} must be a number of seconds, 0.001 to 86400, not {_clip(repr(value))}", hint="correct it"
        )
    return float(value)


def _flag(what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{what} must be true or false, not {_clip(repr(value))}", hint="correct it")
    return value


def _one_of(words: Sequence[str]) -> Callable[[str, object], str]:
    def check(what: str, value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise ConfigError(f"{what} cannot be {_clip(repr(value))}", hint=f"use one of: {', '.join(words)}")

    return check


def _list_of(noun: str, example: str, form: str = "(?s).*") -> Callable[[str, object], tuple[str, ...]]:
    def check(what: str, value: object) -> tuple[str, ...]:
        items = value if isinstance(value, (list, tuple)) else [None]
        if not all(isinstance(item, str) and re.fullmatch(form, item) for item in items):
            raise ConfigError(
                f"{what} must be a list of {noun}, not {_clip(repr(value))}", hint=f"write it as {example}"
            )
        return tuple(items)

    return check


def _macros(what: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, dict) or not set(value) <= set(MACROS):
        raise ConfigError(
            f"{what} must be a table with the keys {', '.join(MACROS)}",
            hint='write it as [macros] and attribute = ["API"]',
        )
    macros = []
    for kind, names in value.items():
        for name in names if isinstance(names, list) else [names]:
            fits = isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w{2,79}(?:\(\))?", name, re.ASCII)
            if not fits or not isinstance(names, list) or (name.endswith("()") and kind != "attribute"):
                raise ConfigError(
                    f"{kind} of {what} must be a list of names, not {_clip(repr(names))}",
                    hint='write it as ["API_CALL", "PRINTF_LIKE()"]; only attributes take ()',
                )
            macros.append(f"{kind} {name}")
    if len(macros) > _MAX_MACROS:
        raise ConfigError(f"{what} must be at most {_MAX_MACROS} macros", hint="leave some out")
    return tuple(macros)


def _branches(what: str, value: object) -> tuple[str, ...]:
    names = _list_of("branches", '["main", "release-2"]', r"(?s).*\S.*")(what, value)
    if len(names) > _MAX_BRANCHES:
        raise ConfigError(f"{what} must be at most {_MAX_BRANCHES} branches", hint="leave some out")
    return tuple(name.strip() for name in names)


def _path(what: str, value: object) -> Path:
    if not isinstance(value, (str, Path)) or not str(value):
        raise ConfigError(f"{what} must be a path, not {_clip(repr(value))}", hint="correct it")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # "~nobody"
        raise ConfigError(f"{what}: {error}", hint="give an absolute path") from error


_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "index_dir": _path,
    "include": _list_of("globs", '["docs/**", "*.gen.py"]'),
    "exclude": _list_of("globs", '["docs/**", "*.gen.py"]'),
    "feature_flags": _list_of("names", '["is_enabled", "settings.*"]', r"[\w.$:>*-]+[?!]?"),
    "branches": _branches,
    "macros": _macros,
    "max_file_bytes": _whole_number(1),
    "max_line_bytes": _whole_number(1),
    "max_nesting": _whole_number(1, 10_000),
    "max_file_symbols": _whole_number(1),
    "max_file_chunks": _whole_number(1),
    "max_file_seconds": _seconds,
    "hidden": _flag,
    "jobs": _jobs,
    "snippet": _whole_number(0),
    "limit": _whole_number(1),
    "model": _path,
    "segment_chunks": _whole_number(1),
    "refresh": _one_of(REFRESH),
    "log": _one_of(LOGS),
    "mode": _one_of(MODES),
    "auto_index": _flag,
    "trust": _flag,
}
