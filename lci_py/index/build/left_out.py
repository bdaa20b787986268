"""Warnings of `lci index` about files that it left out although the user may want them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from lci_py.source.repository.ignored import TreeRules
from lci_py.source.repository.walk import NESTED, NOT_ALLOWED, WalkOptions, walk
from lci_py.types.index import BuildSummary

#: Rules that are named when they leave nothing to index.
_RULES = 3
#: By reason, how to include files that are left out.
_REMEDIES = {
    "ignored": "; `lci index --no-ignore` takes them in",
    NOT_ALLOWED: "; `lci index --include GLOB` takes them in",
    "hidden": "; `hidden = true` in .lci.toml takes them in",
    NESTED: "; `lci index PATH` indexes one by itself",
}


def why_left_out(root: Path, walk_options: WalkOptions, built: BuildSummary) -> tuple[str, ...]:
    """Warnings about files that are left out although the user may want them; () if there are none."""
    return (*_kept_out(built), *_why_so_little(root, walk_options, built))


def _kept_out(built: BuildSummary) -> tuple[str, ...]:
    """The warning about files that a setting names and an ignore file excludes."""
    if not (count := built.skipped_by_reason.get(NOT_ALLOWED)):
        return ()
    what = "1 path stays out that" if count == 1 else f"{count:,} paths stay out that"
    return (
        f"{what} `include` in .lci.toml names and an ignore file leaves out: the settings may have come with a clone. "
        "`lci index --include GLOB` takes in what you name",
    )


def _why_so_little(root: Path, walk_options: WalkOptions, built: BuildSummary) -> tuple[str, ...]:
    """A warning that says why an index has no or few files, and which flags include more; () if it has enough."""
    reasons = built.skipped_by_reason
    if built.files and (built.symbols_by_kind or reasons.get("ignored", 0) <= built.files):
        return ()
    if not reasons:
        return ()  # an empty folder
    parts = []
    for reason, count in reasons.items():
        by = _by_rules(root, walk_options) if reason == "ignored" else ""
        parts.append(f"{count:,} {reason.replace('_', ' ')}{by}{_REMEDIES.get(reason, '')}")
    few = "no files" if not built.files else "only 1 file" if built.files == 1 else f"only {built.files:,} files"
    return (f"{few} to index: {'. '.join(parts)}",)


def _by_rules(root: Path, walk_options: WalkOptions) -> str:
    """The ignore rules that exclude most files, as a part of a sentence."""
    rules = TreeRules(root, walk_options)
    skipped = (skip.path for skip in walk(root, walk_options).skipped if skip.reason == "ignored")
    counts = Counter(str(rule) for path in skipped if (rule := rules.rule(path)) is not None).most_common()
    more = f" and {len(counts) - _RULES:,} more" if len(counts) > _RULES else ""
    return f" by {', '.join(text for text, _ in counts[:_RULES])}{more}" if counts else ""
