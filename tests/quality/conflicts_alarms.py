"""Prints every conflict of repositories for a person to judge, and the false alarms per repository and per 1,000 symbols.

    python -m tests.quality.conflicts_alarms REPO… [--relation overlap --relation duplicate] [--language rust] [--lines 2] [--false FILE]

There is no truth to compare with: each conflict is printed with its places, conditions and first lines. --false names a
file with the conflicts that were judged false alarms, one `language qualified_name` per line; they are counted as such.
The indexes are temporary, and nothing is written into the repositories.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from pathlib import Path

from lci_py import app
from lci_py.types.conflicts import Conflict, ConflictsRequest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repository", type=Path, nargs="+")
    parser.add_argument("--relation", action="append", default=[], help="only these relations")
    parser.add_argument("--language", action="append", default=[], help="only these languages")
    parser.add_argument("--lines", type=int, default=1, help="lines of source per definition")
    parser.add_argument("--false", type=Path, help="the false alarms, one `language qualified_name` a line")
    arguments = parser.parse_args()
    false = set(arguments.false.read_text().splitlines()) if arguments.false else set()
    totals: Counter[str] = Counter()
    for root in arguments.repository:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["LCI_INDEX_DIR"] = folder
            app.build_index(str(root))
            with app.open_engine(str(root)) as session:
                symbols: Counter[str] = Counter()
                for language, count in session.snapshot.symbols.per_file(
                    "language, (SELECT count(*) FROM symbols s WHERE s.file = files.id)"
                ):
                    symbols[language] += count
                found = session.answer("conflicts", ConflictsRequest(all=True)).results
        print(f"== {root}")
        totals += Counter(symbols=symbols.total(), **report(arguments, root, found, symbols, false))
    many = len(arguments.repository)
    print(
        f"{many} repositories, {totals['symbols']:,} symbols: {totals['shown']} listed, {totals['alarms']} false, "
        f"{totals['alarms'] / many:.2f} per repository, {1000 * totals['alarms'] / max(1, totals['symbols']):.4f} per 1,000 symbols"
    )


def report(
    arguments: argparse.Namespace, root: Path, found: tuple[Conflict, ...], symbols: Counter[str], false: set[str]
) -> dict[str, int]:
    """Print the conflicts, relation by relation, then the counts by language and relation; how many, and how many false."""
    shown = [
        one
        for one in found
        if (not arguments.relation or one.relation in arguments.relation)
        and (not arguments.language or one.language in arguments.language)
    ]
    for one in sorted(shown, key=lambda one: (one.relation, one.definitions[0].file, one.definitions[0].line)):
        mark = "  FALSE ALARM" if f"{one.language} {one.qualified_name}" in false else ""
        print(f"{one.relation}  {one.language} {one.kind} {one.qualified_name}{mark}")
        for site in one.definitions:
            tag = f"  [{site.build_tag}]" if site.build_tag else ""
            print(f"    {site.file}:{site.line}  {site.relation}{tag}{'  <- active' if site.active else ''}")
            for text in _lines(root / site.file, site.line, arguments.lines):
                print(f"        | {text}")
    counts = Counter((one.language, one.relation) for one in shown)
    alarms = Counter(one.language for one in shown if f"{one.language} {one.qualified_name}" in false)
    for language in sorted({language for language, _ in counts}):
        total = sum(count for (of, _), count in counts.items() if of == language)
        by = ", ".join(f"{count} {relation}" for (of, relation), count in sorted(counts.items()) if of == language)
        print(
            f"{language}: {total} conflicts ({by}), {symbols[language]:,} symbols, {alarms[language]} false alarms, "
            f"{1000 * alarms[language] / max(1, symbols[language]):.2f} per 1,000 symbols"
        )
    return {"shown": len(shown), "alarms": alarms.total()}


def _lines(path: Path, line: int, count: int) -> list[str]:
    try:
        text = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [text[number].strip()[:120] for number in range(line - 1, min(len(text), line - 1 + count))]


if __name__ == "__main__":
    main()
