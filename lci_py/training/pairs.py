"""Pairs of questions and code that answers them, from what programmers wrote about their own code.

A pair is a short text and a chunk. The chunk is embedded exactly as the index embeds it, but without the text, or the
model would learn to find copies. Kinds of pairs, and the source of the text:

    doc       the first paragraph of a definition's doc comment
    comment   a comment inside a definition
    name      the definition's name, split into words
    signature its parameters and types
    module    the comment at the top of a file
    path      the file's own path
    section   a heading of a document, for the text below it
    mention   a sentence of a document that names a definition
    test      the name of a test, for the definition it names
"""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lci_py.source.syntax.languages import is_test, load_languages
from lci_py.source.text.words import WORD, parts
from lci_py.training.texts import Text
from lci_py.types.record import dataclass, field
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Chunk, Symbol

KINDS = ("doc", "comment", "name", "signature", "module", "path", "section", "mention", "test")
LANGUAGES = tuple(sorted(load_languages()))
MAX_QUERY_WORDS = 40
_COMMENT_LINE = re.compile(
    r"^\s*(?://+[!/]?|#+(?!\s*(?:include|define|if|ifdef|ifndef|else|endif|pragma|import)\b)|--+|\*(?!/)|;+|%+)\s?(.*)$"
)
_OPEN_BLOCK = re.compile(r"^\s*(?:/\*+|\{-+\|?|--\[\[)\s?(.*?)(?:\*/|-\}|\]\])?\s*$")
_PROSE_WORD = re.compile(r"\b[A-Za-z][a-z]+\b")
_CODE_MARKS = re.compile(r"[;{}=<>()\[\]]|->|::|\\n")
_TAGS = re.compile(
    r"^\s*(?:[@\\:](?:param|return|throws|see|since|author|deprecated|type|rtype)|"
    r"\.\.|>>>|```|Args:|Returns:|Parameters|=====|-----)",
    re.I,
)
_NOTICE = re.compile(
    r"copyright|licen[sc]e|all rights reserved|TODO|FIXME|eslint|noqa|pylint|prettier|NOLINT|type: ignore|generated|"
    r"@internal|inheritdoc|https?://",
    re.I,
)
_DULL_NAMES = frozenset(
    "main init new get set run test setup teardown index default constructor tostring equals hashcode".split()
)
_CODE_SPAN = re.compile(r"``?([A-Za-z_][\w.:#]*?)(?:\(\))?``?")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n\s*[-*+]\s|\n#+ ")


@dataclass(slots=True)
class Unit:
    """A chunk of the package and its definition."""

    text: Text
    chunk: Chunk
    symbol: Symbol | None
    number: int


@dataclass(slots=True)
class PackageText:
    """All units of one package, and the definitions of each name."""

    units: list[Unit] = field(default_factory=list)
    by_symbol: dict[tuple[str, int], list[Unit]] = field(default_factory=dict)
    by_name: dict[str, list[tuple[Text, int]]] = field(default_factory=dict)
    by_file: dict[str, list[Unit]] = field(default_factory=dict)
    texts: list[Text] = field(default_factory=list)
    prints: list[int] = field(default_factory=list)  # per file, equal for copies

    def add(self, text: Text, prints: NDArray[np.uint64]) -> None:
        self.texts.append(text)
        self.prints.append(int(prints.sum(dtype=np.uint64)) if len(prints) else zlib.crc32(text.data))
        self.by_file[text.path] = []
        symbols = text.extract.symbols
        for chunk in text.extract.chunks:
            symbol = symbols[chunk.symbol] if chunk.symbol >= 0 else None
            unit = Unit(text, chunk, symbol, len(self.units))
            self.units.append(unit)
            self.by_file[text.path].append(unit)
            self.by_symbol.setdefault((text.path, chunk.symbol), []).append(unit)
        for index, symbol in enumerate(symbols):
            self.by_name.setdefault(symbol.name, []).append((text, index))

    def units_of(self, text: Text) -> list[Unit]:
        return self.by_file[text.path]

    @staticmethod
    def language(unit: Unit) -> int:
        return LANGUAGES.index(unit.text.extract.language)


Found = tuple[int, tuple[str, ...], Unit]  # kind, words of the query, the unit that answers it


def pairs_of(package: PackageText, rng: random.Random) -> Iterator[Found]:
    """The pairs of a package."""
    for text in package.texts:
        if text.extract.language == "markdown":
            yield from _document(package, text)
        else:
            yield from _definitions(package, text, rng)
            yield from _top(package, text)
            yield from _comments(package, text)


def query_words(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(text)[:MAX_QUERY_WORDS])


def first_paragraph(doc: str) -> str:
    """The first part of a doc comment: up to a blank line, a tag or a code sample."""
    lines: list[str] = []
    for line in doc.split("\n"):
        if (not line.strip() and lines) or _TAGS.match(line):
            break
        lines.append(re.sub(r"[{<@\\](?:code|link|p|c|see|ref)\b|</?\w+>", " ", line))
    return " ".join(lines).strip()


def is_prose(text: str, least: int = 3) -> bool:
    """Whether a text is English prose: enough words, few marks of code, nothing about licences or linters."""
    words = _PROSE_WORD.findall(text)
    if len(words) < least or _NOTICE.search(text) or len(text) > 1500:
        return False
    letters = sum(map(len, words))
    return letters > 0.55 * len(text.replace(" ", "")) and len(_CODE_MARKS.findall(text)) <= len(words) // 3


def _chunk_for(package: PackageText, path: str, symbol: int) -> Unit | None:
    """The first chunk of a definition."""
    found = package.by_symbol.get((path, symbol))
    return found[0] if found else None


def _definitions(package: PackageText, text: Text, rng: random.Random) -> Iterator[Found]:
    seen: Counter[str] = Counter()
    for index, symbol in enumerate(text.extract.symbols):
        units = package.by_symbol.get((text.path, index))
        if not units:
            continue
        doc = first_paragraph(symbol.doc)
        if is_prose(doc):
            yield KINDS.index("doc"), query_words(doc), units[0]
        pieces = [part for word in WORD.findall(symbol.name) for part in parts(word)]
        told = symbol.name.lower() not in _DULL_NAMES and len("".join(pieces)) > 3
        if symbol.kind in FUNCTION_KINDS | TYPE_KINDS and told:
            seen[symbol.name] += 1
            if seen[symbol.name] == 1:
                owner = [part for word in WORD.findall(symbol.scope)[-1:] for part in parts(word)]
                query = owner + pieces if owner and rng.random() < 0.3 else pieces
                yield KINDS.index("name"), tuple(query), rng.choice(units)
        if symbol.kind in FUNCTION_KINDS and len(symbol.signature) > 25 and rng.random() < 0.3:
            yield KINDS.index("signature"), query_words(symbol.signature), units[-1]
        if symbol.kind in FUNCTION_KINDS and (is_test(text.path) or "test" in symbol.name.lower()):
            target = _under_test(package, text, symbol)
            if target is not None and target.symbol is not symbol:
                asked = tuple(part for part in pieces if part not in ("test", "should", "it"))
                yield KINDS.index("test"), asked, target


def _under_test(package: PackageText, text: Text, symbol: Symbol) -> Unit | None:
    """The definition that a test is named after: the longest run of parts of its name that names one definition."""
    pieces = [part for part in parts(symbol.name) if part not in ("test", "tests")]
    for size in range(min(len(pieces), 5), 1, -1):
        for start in range(len(pieces) - size + 1):
            run = pieces[start : start + size]
            camel = run[0] + "".join(part.capitalize() for part in run[1:])
            for name in ("_".join(run), camel, camel[0].upper() + camel[1:]):
                found = [(where, index) for where, index in package.by_name.get(name, ()) if not is_test(where.path)]
                if len(found) == 1:
                    return _chunk_for(package, found[0][0].path, found[0][1])
    return None


def _top(package: PackageText, text: Text) -> Iterator[Found]:
    """The comment at the top of a file and the path, each paired with one chunk of the file."""
    units = [unit for unit in package.units_of(text) if len(unit.chunk.text) > 200]
    if not units:
        return
    rng = random.Random(text.path)
    head = text.data[:3000].decode("utf-8", "replace")
    doc = first_paragraph(_head_comment(head))
    if is_prose(doc, 5):
        yield KINDS.index("module"), query_words(doc), rng.choice(units)
    names = WORD.findall("/".join(text.path.split("/")[-3:]).rpartition(".")[0])
    if len("".join(names)) > 4:
        yield KINDS.index("path"), tuple(names[-8:]), rng.choice(units)


def _head_comment(head: str) -> str:
    found = re.match(r"\s*(?:#!.*\n)?(?:#.*coding.*\n)?\s*[rRuU]?(\"\"\"|''')(.*?)\1", head, re.S)
    if found:
        return found.group(2).strip()
    blocks: list[list[str]] = [[]]
    for line in head.split("\n")[:60]:
        mark = _COMMENT_LINE.match(line) or _OPEN_BLOCK.match(line)
        if mark:
            blocks[-1].append(mark.group(1).strip())
        elif line.strip() and not line.strip().startswith(("*/", "package", "<?php", "module", "'use", '"use')):
            break
        else:
            blocks.append([])
    texts = ["\n".join(block).strip() for block in blocks if block]
    return next((text for text in texts if is_prose(first_paragraph(text), 5)), "")


def _comments(package: PackageText, text: Text) -> Iterator[Found]:
    """Comments inside definitions, each paired with its chunk."""
    for unit in package.units_of(text):
        if unit.symbol is None:
            continue
        run: list[str] = []
        body = False
        for line in [*unit.chunk.text.split("\n"), ""]:
            mark = _COMMENT_LINE.match(line)
            if mark:
                run.append(mark.group(1).strip())
                continue
            if run and body:
                comment = " ".join(run)
                if is_prose(comment, 4):
                    yield KINDS.index("comment"), query_words(comment), unit
            run = []
            body = body or (bool(line.strip()) and not line.lstrip().startswith(("@", "/*", "*/", '"""', "'''")))


def _document(package: PackageText, text: Text) -> Iterator[Found]:
    for unit in package.units_of(text):
        if unit.symbol is not None and is_prose(unit.symbol.name, 2):
            scope = unit.symbol.scope if is_prose(unit.symbol.scope, 1) else ""
            yield KINDS.index("section"), query_words(f"{scope} {unit.symbol.name}"), unit
        for sentence in _SENTENCE.split(unit.chunk.text):
            if not is_prose(sentence, 5):
                continue
            for name in _CODE_SPAN.findall(sentence)[:3]:
                last = re.split(r"[.:#]+", name)[-1]
                found = [item for item in package.by_name.get(last, ()) if item[0].extract.language != "markdown"]
                if len(found) == 1 and len(last) > 3:
                    target = _chunk_for(package, found[0][0].path, found[0][1])
                    if target:
                        yield KINDS.index("mention"), query_words(sentence), target
