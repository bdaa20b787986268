"""`lci index`, `lci status`, `lci clean`, `lci hook` and `lci workspace` as text."""

from __future__ import annotations

import re
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from lci_py.render.text.style import Page, counts, plural, size, visible_line, visible_path, width_of, wrap_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lci_py.render.text.style import Layout, Signs
    from lci_py.types.index import BuildSummary
    from lci_py.types.source import FileEntry, Skip

_LABEL = 10
#: The part of a shard's file name after the shard's name.
_DIGEST = re.compile(r"-[0-9a-f]{16}\.\w+$")
#: How many segments are shown without --verbose; each refresh may add one.
_SEGMENTS = 6
#: How many paths a dry run names for each reason, without --verbose.
_EXAMPLES = 5
#: How many nested repositories are named.
_NESTED = 5
_MAX_NAME = 32
_PROBLEMS = {
    "vanished": "is not there",
    "symlink": "has become a link",
    "special": "is not a folder",
    "unreadable": "cannot be read",
}


def _row(label: str, text: str, layout: Layout) -> str:
    """A line with a label and its text; on a narrow terminal, the text is wrapped in its column."""
    if not text:
        return ""
    hanging = " " * (_LABEL + 2)
    return (
        f"  {layout.style(f'{label:<{_LABEL}}', 'dim')}"
        + "\n".join(wrap_items(text, layout, hanging, len(hanging)))
        + "\n"
    )


def _write_row(page: Page, label: str, text: str) -> None:
    page.file.write(_row(label, text, page.layout))


def render_build(built: BuildSummary, page: Page) -> None:
    """Write the summary of a build, after `lci index`."""
    file, (style, signs, *_) = page.file, page.layout
    row = partial(_write_row, page)
    if not built.changed:
        file.write(f"up to date (generation {built.generation})\n")
    else:
        what = f"{plural(built.files, 'file')} in {built.seconds:.1f} s (generation {built.generation})"
        searchable = built.searchable_seconds
        early = "" if searchable is None else f", searchable after {searchable:.1f} s"
        file.write(f"indexed {style(what, 'bold')}{early}\n")
        if built.started_from:
            share = f"{built.files - built.parsed_files:,} of {plural(built.files, 'file')} were indexed in "
            row("reused", share + visible_line(built.started_from))
        row("refresh", _refresh(built, signs))
        row("files", counts(built.files_by_language.items(), signs))
        row("symbols", counts(built.symbols_by_kind.items(), signs))
        row("chunks", f"{built.chunks:,}")
        row("edges", counts(built.edges_by_kind.items(), signs))
        row("skipped", counts(built.skipped_by_reason.items(), signs))
        row("apart", _apart(built.nested_repositories, built.skipped_by_reason, signs))
        row("branches", _branches(built.branches.items(), signs))
        row("size", f"{size(built.bytes_read)} read, {size(built.bytes_on_disk)} on disk")
    for text in built.warnings:
        page.warning(text)


def _refresh(built: BuildSummary, signs: Signs) -> str:
    """The counts of what a refresh did; "" after a first build (which also may reuse files with the same content)."""
    if built.generation == 1 or not (built.reused_files or built.removed_files):
        return ""
    parts = [f"{built.parsed_files:,} parsed", f"{built.reused_files:,} unchanged"]
    if built.removed_files:
        parts.append(f"{built.removed_files:,} removed")
    parts.append(f"{plural(built.embedded_chunks, 'chunk')} embedded")
    return f" {signs.dot} ".join(parts)


def _apart(nested: Sequence[str], reasons: Mapping[str, int], signs: Signs) -> str:
    """A note on worktrees and submodules inside the tree, which are not in this index."""
    if not nested:
        return ""
    count = max(reasons.get("nested_repository", 0), len(nested))
    what = "1 worktree or submodule" if count == 1 else f"{count:,} worktrees or submodules"
    paths = [visible_line(path.rstrip("/")) for path in nested[:_NESTED]]
    more = [f"+{count - len(paths):,} more"] if count > len(paths) else []
    return f"{what}, not in this index: {f' {signs.dot} '.join([*paths, *more])}"


def _branches(items: Iterable[tuple[str, int]], signs: Signs) -> str:
    """The names of branches, each with the number of files that differ in it."""
    return f" {signs.dot} ".join(f"{visible_line(name)} {plural(files, 'differing file')}" for name, files in items)


def render_dry_run(
    files: list[FileEntry],
    skipped: list[Skip],
    rules: Mapping[str, object],
    *,
    file: IO[str],
    verbose: bool = False,
) -> None:
    """List the files that would be indexed, one per line; then count the skipped files by reason, with examples.

    With `verbose`, all skipped files are listed, each with the rule that excludes it.
    """
    render_files(files, file=file)
    reasons: dict[str, list[Skip]] = {}
    for skip in skipped:
        reasons.setdefault(skip.reason, []).append(skip)
    file.write(f"\n{plural(len(files), 'file')} to index, {len(skipped):,} skipped\n")
    for reason, skips in sorted(reasons.items()):
        file.write(f"  {visible_line(reason)}: {len(skips):,}\n")
        examples = skips if verbose else skips[:_EXAMPLES]
        file.writelines(f"    {visible_line(skip.path)}{_rule(skip, rules) if verbose else ''}\n" for skip in examples)
        if len(skips) > len(examples):
            file.write(f"    {Page(file).layout.signs.ellipsis} and {len(skips) - len(examples):,} more\n")


def render_files(files: list[FileEntry], *, file: IO[str]) -> None:
    file.writelines(f"{visible_path(entry.path)}\n" for entry in files)


def render_skips(skipped: list[Skip], rules: Mapping[str, object], *, file: IO[str]) -> None:
    file.writelines(
        f"skipped {visible_line(skip.path)}: {visible_line(skip.reason)}{_rule(skip, rules)}\n" for skip in skipped
    )


def _rule(skip: Skip, rules: Mapping[str, object]) -> str:
    rule = rules.get(skip.path)
    return f" (by {visible_line(str(rule))})" if rule is not None else ""


def _age(seconds: float) -> str:
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return f"{plural(int(seconds // length), unit)} ago"
    return "just now"


def render_status(status: Mapping[str, Any], page: Page, *, verbose: bool = False) -> None:
    """Write the report of `lci status`.

    A missing or null key of `status` gets no row: before its first commit, for example, a branch has no commit to show.
    """
    file, layout = page.file, page.layout
    style, signs, *_ = layout
    row, get = partial(_write_row, page), status.get
    health = visible_line(str(get("health", "ok")))
    root = style(visible_line(str(get("root", ""))), "path")
    file.write(f"{root}: {style(health, 'bold' if health == 'ok' else 'warn')}\n")
    built = f"{_age(float(get('age_seconds') or 0))}, {get('built_at')}"
    row("index", f"generation {get('generation')}, built {built}")
    where = " at ".join(part for part in (get("branch"), str(get("commit") or "")[:12]) if part)
    row("git", visible_line(where))
    tips = [(f"{tip['name']} at {tip['commit'][:12]},", tip["files"]) for tip in get("branches") or () if tip["commit"]]
    row("branches", _branches(tips, signs))
    model = get("model") or {}
    if model:
        digest = str(model.get("sha256") or "")[:12]
        text = f"{model.get('name')}, dimension {model.get('dimension')}, sha256 {digest}"
        row("model", visible_line(text))
    by_language = counts((get("files_by_language") or {}).items(), signs)
    row("files", f"{get('files', 0):,}  {by_language}".rstrip())
    errors = get("errors_by_language") or {}
    if errors:
        broken = plural(sum(errors.values()), "file")
        row("syntax", f"errors in {broken}: {counts(errors.items(), signs)}")
    lost = [f"{visible_line(item['path'])} ({item['lines']:,} of {item['of']:,})" for item in get("lost_lines") or ()]
    row("", f"lines that do not parse: {', '.join(lost[: None if verbose else 3])}" if lost else "")
    absent = get("absent_grammars") or {}
    texts = ", ".join(f"{plural(item['files'], 'file')} of {name}" for name, item in absent.items())
    extras = ",".join(sorted({item["extra"] for item in absent.values()}))
    row("text", f"{texts}: `pip install 'lci-py[{extras}]'`, then `lci index --full`" if absent else "")
    by_kind = counts((get("symbols_by_kind") or {}).items(), signs)
    row("symbols", f"{get('symbols', 0):,}  {by_kind}".rstrip())
    pending = f", {get('pending_chunks'):,} not embedded yet" if get("pending_chunks") else ""
    row("chunks", f"{get('chunks', 0):,}{pending}")
    row("edges", counts((get("edges_by_kind") or {}).items(), signs))
    file.writelines(_segments(status, layout, verbose=verbose))
    row("on disk", size(get("bytes_on_disk") or 0))
    row("skipped", counts((get("skipped_by_reason") or {}).items(), signs))
    if verbose:
        file.writelines(_skipped_lines(status, signs))
    if get("repositories"):
        page.lines(_repository_rows(status["repositories"], layout))
    nested = get("nested_repositories") or ()
    row("apart", _apart(nested, get("skipped_by_reason") or {}, signs))
    row("ignore", "" if get("ignore_files", True) else "ignore files do not count (--no-ignore)")
    globs = ", ".join(visible_line(glob) for glob in get("allow") or ())
    row("include", f"{globs}, although ignored (--include)" if globs else "")
    lost = [f"branch {tip['name']} is not indexed: {tip['problem']}" for tip in get("branches") or () if tip["problem"]]
    problems = (*(get("problems") or ()), *lost, *(get("warnings") or ()))
    for text in problems:
        page.warning(text)
    _stale(status, page)


def _segments(status: Mapping[str, Any], layout: Layout, *, verbose: bool) -> Iterator[str]:
    """Rows with the sizes of the index's shards (files), by segment if it has several; `verbose` names all of them."""
    signs = layout.signs

    def shard_texts(shards: Sequence[Mapping[str, Any]]) -> str:
        names = (str(s["name"]) if verbose else _DIGEST.sub("", str(s["name"])) for s in shards)
        sizes = (size(s["bytes"]) for s in shards)
        return f" {signs.dot} ".join(f"{visible_line(name)} {many}" for name, many in zip(names, sizes, strict=True))

    segments = status.get("segments") or ()
    if len(segments) < 2:
        yield _row("shards", shard_texts(status.get("shards") or ()), layout)
        return
    yield _row("segments", f"{len(segments):,}", layout)
    limit = len(segments) if verbose else _SEGMENTS
    for number, segment in enumerate(segments[:limit], 1):
        what = f"{plural(segment['files'], 'file')}, {plural(segment['chunks'], 'chunk')}, {size(segment['bytes'])}"
        text = f"    {number}  {what}: {shard_texts(segment['shards'])}"
        yield "\n".join(wrap_items(text, layout, " " * (_LABEL + 2))) + "\n"
    if len(segments) > limit:
        yield f"    {signs.ellipsis} and {len(segments) - limit:,} more\n"


def _skipped_lines(status: Mapping[str, Any], signs: Signs) -> Iterator[str]:
    total = status.get("skipped_by_reason") or {}
    for reason, paths in (status.get("skipped_paths") or {}).items():
        yield from (f"    {visible_line(reason)}: {visible_line(str(path))}\n" for path in paths)
        if total.get(reason, 0) > len(paths):
            yield f"    {visible_line(reason)}: {signs.ellipsis} and {total[reason] - len(paths):,} more\n"


def _stale(status: Mapping[str, Any], page: Page) -> None:
    stale = int(status.get("stale_files") or 0)
    if not stale:
        return
    command = f"lci index --workspace {name}" if (name := status.get("workspace")) else "lci index"
    page.warning(f"{plural(stale, 'file')} changed since; `{command}` refreshes them")
    paths = list(status.get("stale_paths") or ())
    page.lines(f"    {visible_line(str(path))}" for path in paths)
    if stale > len(paths) > 0:
        page.lines([f"    {page.layout.signs.ellipsis} and {stale - len(paths):,} more"])


def render_cleaned(cleaned: Mapping[str, Any], file: IO[str]) -> None:
    """Write which files `lci clean` removed, and which it kept."""
    folder = visible_line(str(cleaned["index_dir"]))
    file.write(f"{folder}: {size(cleaned['freed_bytes'])} freed\n")
    for name in cleaned["kept"]:
        file.write(f"  kept {visible_line(str(name))}\n")


def render_hooks(report: Mapping[str, Any], page: Page) -> None:
    """Write the state of each git hook."""
    file, layout = page.file, page.layout
    style = layout.style
    file.write(f"hooks in {style(visible_line(str(report['folder'])), 'path')}\n")
    for hook in report["hooks"]:
        detail = f": {visible_line(hook['detail'])}" if hook["detail"] else ""
        changed = "" if hook["name"] not in report["changed"] else " (changed)"
        file.write(f"  {hook['name']:<14}{hook['state']}{changed}{detail}\n")
    for text in report["warnings"]:
        page.warning(text)


def render_workspaces(report: Mapping[str, Any], page: Page) -> None:
    """Write the workspaces with their repositories, or the repositories that were added or removed."""
    layout = page.layout
    if "workspaces" not in report:
        page.lines(_change_lines(report, layout))
        return
    for workspace in report["workspaces"]:
        later = f"  (not indexed yet: the first search does that, or `lci index --workspace {workspace['workspace']}`)"
        note = "" if workspace["indexed"] else later
        page.lines([f"{layout.style(workspace['workspace'], 'bold')}{layout.style(note, 'dim')}"])
        page.lines(_repository_rows(workspace["repositories"], layout))
    if not report["workspaces"]:
        page.lines(["no workspaces; `lci workspace add NAME PATH…` makes one"])


def _change_lines(report: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    name, verb = report["workspace"], "added" if "added" in report else "removed"
    touched, count = report[verb], len(report["repositories"])
    many = f"{count} {'repository' if count == 1 else 'repositories'}"
    if verb == "removed" and not count:
        yield f"{layout.style(name, 'bold')}: removed, with its index; the repositories are not touched"
        return
    if not touched:
        yield f"{layout.style(name, 'bold')}: nothing to add, it has {many}"
        return
    yield f"{layout.style(name, 'bold')}: {verb} {len(touched)}, it has {many}"
    yield from _repository_rows(touched, layout)
    yield f"  `lci index --workspace {name}` brings its index up to date"


def _repository_rows(repositories: Sequence[Mapping[str, Any]], layout: Layout) -> Iterator[str]:
    """One line for each repository: name, folder and, for a status, the counts of its index."""
    width = min(_MAX_NAME, max((width_of(visible_line(repo["repository"])) for repo in repositories), default=0))
    for repo in repositories:
        name = visible_line(repo["repository"])
        parts = []
        if (files := repo.get("files")) is not None:
            parts.append(plural(files, "file"))
        if commit := repo.get("commit"):
            parts.append(f"{repo['branch']} at {commit[:12]}" if repo.get("branch") else commit[:12])
        if stale := repo.get("stale_files"):
            parts.append(f"{stale:,} changed")
        pad = " " * max(0, width - width_of(name))
        row = f"  {name}{pad}  {layout.style(visible_line(repo['path']), 'path')}"
        if parts:
            row += layout.style("  " + visible_line(", ".join(parts)), "dim")
        if problem := repo.get("problem"):
            row += layout.style(f"  {layout.signs.warn} {_PROBLEMS.get(problem, problem)}", "warn")
        yield row
