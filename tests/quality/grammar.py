"""What one wants to see while writing the queries of a language (docs/languages.md).

    python -m tests.quality.grammar tree FILE       the syntax tree, with the names of nodes and fields
    python -m tests.quality.grammar extract FILE    what is extracted, as in fixtures/golden/extract/
    python -m tests.quality.grammar errors FOLDER   per language: files, those with syntax errors, megabytes per second
    python -m tests.quality.grammar compile LANG    milliseconds of processor time, per pattern and for the whole query

The time of a pattern alone holds that of an empty query, which grows with the grammar and is printed first.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path

from tree_sitter import Language, Node, Query

from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import HEAD_BYTES, TEXT, detect, load_languages
from lci_py.source.syntax.limits import DEFAULTS
from tests.source.extract.test_extract_golden import render


def read(path: Path) -> tuple[bytes, str]:
    source = path.read_bytes()
    return source, detect(path.name, source[:HEAD_BYTES])


def tree(path: Path) -> None:
    source, language = read(path)

    def show(node: Node, depth: int, field: str | None) -> None:
        text = "" if node.child_count else f" {node.text.decode('utf-8', 'replace')[:60]!r}" if node.text else ""
        kind = node.type if node.is_named else repr(node.type)
        print(f"{node.start_point[0] + 1:5d} {'  ' * depth}{f'{field}: ' if field else ''}{kind}{text}")
        for place, child in enumerate(node.children):
            show(child, depth + 1, node.field_name_for_child(place))

    show(load_languages()[language].parse(source, DEFAULTS).tree.root_node, 0, None)


def errors(folder: Path) -> None:
    files: dict[str, list[tuple[Path, int, float, bool]]] = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        source, language = read(path)
        if language != TEXT:
            began = time.process_time()
            broken = load_languages()[language].parse(source, DEFAULTS).tree.root_node.has_error
            files[language].append((path, len(source), time.process_time() - began, broken))
    for language, rows in files.items():
        bad = [path for path, *_, broken in rows if broken]
        rate = sum(size for _, size, *_ in rows) / 1e6 / max(1e-9, sum(seconds for *_, seconds, _ in rows))
        print(f"{language}: {len(rows)} files, {len(bad)} with errors, {rate:.1f} MB/s")
        for path in bad[:10]:
            print(f"    {path}")


def milliseconds(language: Language, query: str) -> float:
    """The best of three."""
    spent = []
    for _ in range(3):
        began = time.process_time()
        Query(language, query)
        spent.append(time.process_time() - began)
    return min(spent) * 1e3


def compiled(name: str) -> None:
    spec = load_languages()[name]
    source = spec.query_source().encode()
    query = Query(spec.language, spec.query_source())
    print(f"{milliseconds(spec.language, '(ERROR) @_'):7.1f}  an empty query")
    patterns = [
        source[query.start_byte_for_pattern(at) : query.end_byte_for_pattern(at)].decode()
        for at in range(query.pattern_count)
    ]
    for spent, pattern in sorted(((milliseconds(spec.language, text), text) for text in patterns), reverse=True):
        print(f"{spent:7.1f}  {' '.join(pattern.split())[:150]}")
    print(f"{milliseconds(spec.language, spec.query_source()):7.1f}  all of {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tree", "extract", "errors", "compile"])
    parser.add_argument("of", help="a file, a folder or a language")
    args = parser.parse_args()
    if args.what == "tree":
        tree(Path(args.of))
    elif args.what == "extract":
        source, language = read(Path(args.of))
        print(render(extract(Path(args.of).name, source, language)), end="")
    elif args.what == "errors":
        errors(Path(args.of))
    else:
        compiled(args.of)


if __name__ == "__main__":
    main()
