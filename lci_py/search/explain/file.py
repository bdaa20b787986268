"""Makes `--explain-file PATH`: the ranks of a file in a search, and one sentence that says why it is not shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lci_py.errors import BadPathError, DamagedIndexError
from lci_py.search.explain.steps import explanation
from lci_py.search.snapshot import Trace
from lci_py.search.suggest import enumeration, similar_paths
from lci_py.source.repository.files import ALWAYS_SKIPPED, from_root
from lci_py.types.record import fields, replace
from lci_py.types.search import Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lci_py.index.shards.files import FileTable
    from lci_py.search.explain.explainable import Explainable, FileStanding
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, SearchRequest, Step

#: The outcomes for a file.
STATUSES = ("shown", "ranked", "not_found", "filtered", "empty", "not_indexed")
#: A factor that takes less than this is not mentioned: it would read as 0.00.
_SEEN = -0.005
#: Factor -> how a sentence calls it, where that is not its name.
_TOOK = {"same_file": "better results in the same file"}
#: Reason why a file or folder is left out -> how a sentence says it.
_IS = {
    "not_allowed": "ignored, although `include` in .lci.toml names it; `lci index --include GLOB` takes it in",
    "excluded": "excluded by `exclude` in .lci.toml",
    "hidden": "hidden, as its name begins with a dot",
    "too_large": "larger than max_file_bytes",
    "symlink": "a symbolic link, which is not followed",
    "special": "not a regular file",
    "unreadable": "not readable",
    "vanished": "gone since the tree was listed",
    "not_utf8_path": "not named in UTF-8",
    "nested_repository": "a worktree or submodule, which has an index of its own",
    "binary": "binary",
    "minified": "minified",
    "long_lines": "of lines longer than max_line_bytes",
    "generated": "generated",
}


def with_explanation(
    snapshot: Snapshot, request: SearchRequest, answer: Answer, mode: Callable[[], Explainable]
) -> Answer:
    """Add `explain_file` to an answer.

    Args:
        mode: Returns the intermediate results of the mode that answered.
    Raises:
        BadPathError: There is no such file, or it is not below the root.
    """
    trace, snapshot.trace = snapshot.trace, Trace()  # what is looked up from here on is no part of the search
    try:
        with trace.stage("explain_file"):
            fate = _fate(snapshot, request, answer, mode())
    finally:
        snapshot.trace = trace
    return replace(answer, explain_file=fate)


def _fate(snapshot: Snapshot, request: SearchRequest, answer: Answer, mode: Explainable) -> dict[str, Any]:
    path = find_file(snapshot.root, snapshot.files, request.explain_file or "")
    if (missing := not_indexed(snapshot, path)) is not None:
        reason, sentence = missing
        return {"file": path, "status": "not_indexed", "verdict": sentence, "reason": reason}
    if path in snapshot.freshness.sweep().gone:
        return {"file": path, "status": "not_indexed", "verdict": "gone since the index was made", "reason": "vanished"}
    fate: dict[str, Any] = {"file": path}
    if snapshot.freshness.changed(path):
        fate["stale"] = True
    try:
        keys = mode.keys(path)
    except ValueError as error:
        raise DamagedIndexError(f"the symbolic shard lacks {path}") from error
    if not keys:
        what = "no symbol is defined in it" if answer.mode == "symbolic" else "it holds nothing to rank"
        return {**fate, "status": "empty", "verdict": what}
    if stopped := stopping(mode, request, keys):
        return {**fate, "status": "filtered", "verdict": f"filtered out by {enumeration(stopped)}", "filters": stopped}
    passing = keys & mode.passing(mode.filters) if mode.filters else keys
    holding = mode.holding(passing)
    if not holding:
        return {**fate, "status": "not_found", "verdict": "no line of it holds the quoted words letter for letter"}
    return {**fate, **_file_rank(answer, mode, mode.best(holding), path)}


# --- the file itself ----------------------------------------------------------------------------------------------


def find_file(root: Path, table: FileTable, name: str) -> str:
    """The path, relative to the root, of a file that exists or is indexed.

    Args:
        root: The root, as an absolute and resolved path.
        table: The indexed files.
        name: An absolute path, or a path relative to the current folder (tried first) or to the root.
    Raises:
        BadPathError: There is no such file (the message has similar names), or it lies outside the root.
    """
    if not name or "\0" in name:
        raise BadPathError("the name of the file is empty or holds a NUL", hint="--explain-file takes a file")
    indexed = table.paths()
    inside = _spellings(root, name)
    if not inside:
        raise BadPathError(f"{name} is not a file below {root}", hint="name a file of this repository, or see --root")
    for path in inside:
        full = os.path.join(root, path)
        if os.path.isdir(full) and not os.path.islink(full):
            raise BadPathError(f"{name} is a folder", hint="name a file in it")
        if path in indexed or os.path.lexists(full):
            return path
    near = similar_paths(name, indexed)
    hint = f"did you mean {enumeration(near, 'or')}?" if near else "paths start at the current folder, or at the root"
    raise BadPathError(f"there is no file {name}, in the index or beside it", hint=hint, near=near)


def _spellings(root: Path, name: str) -> list[str]:
    """The paths from the root that `name` can mean: relative to the current folder, if in the root, or to the root."""
    try:
        here = os.path.abspath(name)
        real = os.path.join(os.path.realpath(os.path.dirname(here)), os.path.basename(here))
        full = [here, real, *([] if os.path.isabs(name) else [os.path.normpath(os.path.join(root, name))])]
    except (OSError, ValueError):  # the current folder is gone
        full = [os.path.normpath(os.path.join(root, name))]
    return list(dict.fromkeys(inside for path in full if (inside := from_root(root, path)) is not None))


def not_indexed(snapshot: Snapshot, path: str) -> tuple[str, str] | None:
    """Why a file is not indexed, as (word, sentence); None if it is indexed."""
    state = next((item for item in snapshot.files.states() if item.path == path), None)
    if state is not None:
        return None if state.slot >= 0 else (state.reason, f"not indexed: {_IS.get(state.reason, state.reason)}")
    own = [name for name in path.split("/") if name in ALWAYS_SKIPPED]
    if own:
        return "own", f"not indexed: nothing in {own[0]} is"
    for skip in snapshot.files.skipped():
        bare = skip.path.rstrip("/")
        if path != bare and not path.startswith(bare + "/"):
            continue
        what = _IS.get(skip.reason, skip.reason)
        if skip.reason == "ignored":
            from lci_py.source.repository.ignored import TreeRules
            from lci_py.source.repository.walk import member_options

            rule = TreeRules(snapshot.root, member_options(snapshot.root)).rule(skip.path)
            what = f"ignored by {rule}" if rule else "ignored, when the tree was last listed"
        whose = "" if path == bare else f"its folder {bare} is "
        return skip.reason, f"not indexed: {whose}{what}"
    return "new", "not indexed: it was not there when the index was made; run `lci index`"


# --- the filters --------------------------------------------------------------------------------------------------


def stopping(mode: Explainable, request: SearchRequest, keys: set[Any]) -> list[str]:
    """The filters, as the user wrote them, that exclude all candidates of a file; [] if a candidate passes all."""
    if not mode.filters or keys & mode.passing(mode.filters):
        return []
    flags = {
        field.name: getattr(mode.filters, field.name) for field in fields(Filters) if field.name != "changed_since"
    }
    alone = [name for name, values in flags.items() if values and not keys & mode.passing(Filters(**{name: values}))]
    # No single filter need exclude everything: one class may have the kind, and another one the name.
    names = alone or [name for name, values in flags.items() if values]
    return [flag for name in names for flag in _flag_words(name, flags[name], request)]


def _flag_words(name: str, values: Sequence[str], request: SearchRequest) -> list[str]:
    if name == "no_tests":
        return ["--no-tests"]
    if name == "changed":
        return [f"--changed-since {request.filters.changed_since}"]
    flags = getattr(request.filters, name)
    return [f"--{name} {value}" if value in flags else f"{name}:{value}" for value in dict.fromkeys(values)]


# --- the ranking --------------------------------------------------------------------------------------------------


def _file_rank(answer: Answer, mode: Explainable, placed: FileStanding, path: str) -> dict[str, Any]:
    """The content of `explain_file`: the rank of a file's best candidate, and a sentence why it is not higher."""
    row = mode.row(placed.key)
    best = {key: row[key] for key in ("id", "symbol", "qualified_name", "kind", "line")}
    has_score = placed.rank is not None or any(placed.views.values())
    entry: dict[str, Any] = {"status": "", "verdict": "", **({"best": best} if has_score else {})}
    if placed.rank is not None:
        entry |= {"rank": placed.rank, "total": answer.total, "score": placed.score}
    ranked = [result for result in answer.results if result.via is None]
    if ranked:
        entry["last_shown"] = {"rank": len(ranked), "score": ranked[-1].mode_score}
    entry |= explanation(placed.steps, {view: standing for view, standing in placed.views.items() if standing})
    if any(result.file == path for result in ranked):
        status, verdict = "shown", f"shown at rank {placed.rank} of {answer.total:,}"
    elif any(result.file == path for result in answer.results):
        status, verdict = "shown", "shown for what it has to do with a result (--expand)"
    elif placed.rank is None:
        status, verdict = "not_found", _unfound(mode, placed)
    else:
        reasons = _reasons(mode, placed, len(ranked), ranked[-1].mode_score if ranked else 0.0)
        status = "ranked"
        verdict = f"rank {placed.rank:,} of {answer.total:,}: {reasons}; `-n {placed.rank}` shows it"
    return {**entry, "status": status, "verdict": verdict}


def _unfound(mode: Explainable, placed: FileStanding) -> str:
    reasons = mode.reasons(placed)
    return f"not found: {'; '.join(reasons)}" if reasons else "its score is 0"


def _reasons(mode: Explainable, placed: FileStanding, rank: int, last: float) -> str:
    """A sentence that compares a candidate with the last shown result, whose rank is `rank` and whose score is `last`:
    `nothing from paths and names; the 10th has 1.21, it 0.84 after test took 0.40`.
    """
    against = mode.steps_at(rank) if rank else ()
    if not against or placed.score == last:
        return f"as good as the {_ordinal(rank)}; equal results are ordered by path and line"
    own, other = _signals(placed.steps), _signals(against)
    lacking = sorted(other.keys() - own.keys(), key=lambda name: (-other[name], name))
    weaker = sorted(own.keys() & other.keys(), key=lambda name: (own[name] - other[name], name))
    less = [f"{name} ({own[name]:.2f} to {other[name]:.2f})" for name in weaker if own[name] < other[name]]
    said = []
    if lacking:
        said.append(f"nothing from {enumeration(lacking[:3])}")
    if less and len(lacking) < 2:
        said.append(f"less from {enumeration(less[:2])}")
    penalties = [
        f"{_TOOK.get(step.name, step.name)} took {-step.adds:.2f}"
        for step in placed.steps
        if step.name != "behind" and step.adds <= _SEEN
    ]
    after = f" after {enumeration(penalties)}" if penalties else ""
    said.append(f"the {_ordinal(rank)} has {last:.2f}, it {placed.score:.2f}{after}")
    return "; ".join(said)


def _signals(steps: Sequence[Step]) -> dict[str, float]:
    return {step.name: step.adds for step in steps if step.value is not None}


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
