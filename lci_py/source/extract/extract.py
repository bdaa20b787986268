"""Extracts everything that the index keeps of a file from its syntax tree and query matches, in one pass.

The capture names are the interface between a grammar folder and this module; docs/languages.md lists them. Differences
between languages belong into grammars/, not here.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lci_py.source import conditions
from lci_py.source.dataflow.lower import Anonymous, is_followed, lower
from lci_py.source.extract.arguments import (
    arguments,
    base_arguments,
    parameter_types,
    type_parameters,
    unnamed_owners,
)
from lci_py.source.extract.chunk import chunk_symbols, chunk_text
from lci_py.source.extract.implicit_calls import accessors, class_methods, getter_reads, implicit_calls
from lci_py.source.extract.manifests import npm_package_of, package_of
from lci_py.source.extract.marks import marks_of
from lci_py.source.extract.stored_functions import stored_functions
from lci_py.source.extract.stored_values import stored_values
from lci_py.source.extract.symbols import SymbolReader, plain_name
from lci_py.source.extract.traits import own_digests
from lci_py.source.extract.type_hints import AnonymousScopes, NarrowedTypes, bound_names, outline, tests_of, types_of
from lci_py.source.frameworks import registrations, template_includes
from lci_py.source.stated_values import claims_of
from lci_py.source.stated_values.repeated_keys import repeated_keys
from lci_py.source.syntax.captures import SPACE, Captures, Finder, without_colon
from lci_py.source.syntax.languages import TEXT, QueryPart, decodable, is_deep, load_languages
from lci_py.source.syntax.limits import DEFAULTS, Limits, graver
from lci_py.source.syntax.macro_calls import called_in
from lci_py.source.syntax.macro_uses import path_before, used_in
from lci_py.source.syntax.selectors import receiver_of
from lci_py.source.text.language_tables import has_rule
from lci_py.types.record import replace
from lci_py.types.search import TYPE_KINDS
from lci_py.types.source import Base, Call, Extract, Import, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    from lci_py.source.syntax.languages import ParsedFile


def extract(path: str, source: bytes, language: str, limits: Limits = DEFAULTS, flags: tuple[str, ...] = ()) -> Extract:
    """Extract everything that the index needs from one file.

    Of a file with syntax errors, the parts that parse count. `text` files yield chunks only.

    Args:
        path: The path relative to the root; some build conditions are in file names.
        source: The file's bytes; invalid UTF-8 is replaced in names and chunks.
        language: A name from grammars/, or `text`.
        limits: Bounds on time, memory and size.
        flags: Predicates that test a feature flag.
    Raises:
        OutOfTime: The parser took too long; `extract_text` still returns the chunks.
    """
    *_, whole = extract_stages(path, source, language, limits, flags)
    return whole


def extract_stages(
    path: str, source: bytes, language: str, limits: Limits = DEFAULTS, flags: tuple[str, ...] = (),
    *, part: QueryPart = QueryPart.WHOLE,
) -> Iterator[Extract]:  # fmt: skip
    """Yield the result of `extract` in two stages: first what a search without call graph needs (all but calls,
    registrations, bases, types, stored functions, flow and marks), then everything. A `text` file has one stage.

    Args:
        part: With `DEFINITIONS`, the remaining part of the query runs only before the second stage.
    """
    if language == TEXT:
        yield extract_text(source, TEXT, limits, path=path)
        return
    source = _readable(path, source, language)
    parsed, captured, reader, limit = _parse(path, source, language, limits, flags, part)
    tree, spec, finder = parsed.tree, load_languages()[language], reader.finder
    imports = tuple(_imports(captured))
    symbols = own_digests(language, captured, reader.symbols)
    chunks = chunk_symbols(symbols, reader.nodes, tree.root_node, source, captured.row)
    if len(chunks) > limits.max_file_chunks:
        chunks = chunk_text(source)  # fewer, since all but the last are full
    if len(chunks) > limits.max_file_chunks:
        limit = graver("too_many_chunks", limit)
    chunks = chunks[: limits.max_file_chunks]
    symbols = reader.with_tables(symbols)
    first = Extract(
        language=language,
        package=captured.package,
        symbols=tuple(symbols),
        imports=imports,
        claims=(*claims_of(language, path, source, symbols), *repeated_keys(path, language, captured, finder)),
        chunks=chunks,
        has_errors=parsed.has_errors,
        lost_lines=parsed.lost_lines,
        limit=limit,
    )
    yield first
    captured.complete()
    followed = is_followed(path, language)
    flow = lower(language, tree.root_node, captured, imports, followed=followed)
    anonymous = Anonymous(flow.spans) if flow is not None and flow.spans else None
    caller = _caller(finder, symbols, anonymous, of_variables=flow is None)
    registered, handled = registrations(language, captured, finder, symbols, caller)
    narrowed = NarrowedTypes([*(flow.narrowed if flow is not None else ()), *tests_of(captured)])
    calls = _calls(language, captured, finder, symbols, caller, narrowed)
    if flow is not None:
        calls += implicit_calls(captured, flow, symbols, narrowed, caller)
        calls += getter_reads(captured, flow, symbols, narrowed, caller)
    calls += handled
    stored = (
        stored_functions(captured, finder, calls)
        if has_rule(language, "including")
        else stored_values(language, captured, finder, symbols, reader.nodes, calls, tree.root_node)
    )
    hints = flow.given if flow is not None else None
    scopes = AnonymousScopes(anonymous, finder, symbols) if anonymous is not None and hints is None else None
    types = types_of(language, captured, finder, symbols, calls, hints, stored, scopes)
    derived = list(_bases(captured, finder, symbols))
    bases = tuple(Base(symbol, plain_name(SPACE.sub("", captured.text(node)))) for symbol, node in derived)
    yield replace(
        first,
        calls=tuple(calls),
        bases=bases,
        types=(
            *types,
            *(scopes.nesting(types, flow.lambdas) if scopes is not None and flow is not None else ()),
            *(accessors(flow) if flow is not None else ()),
            *class_methods(language, symbols),
            *type_parameters(language, reader.nodes, symbols),
            *unnamed_owners(language, reader.nodes, symbols),
            *base_arguments(language, captured, derived),
            *parameter_types(language, reader.nodes, symbols, {base.symbol for base in bases}),
        ),
        stored=tuple(stored),
        lambdas=tuple(flow.lambdas) if flow is not None else (),
        registered=tuple(registered),
        flow=flow.finish().encode() if flow is not None and followed else b"",
        marks=marks_of(captured) if spec.marks_text and spec.regions_in(path) is None and not limit else b"",
    )


def definitions(
    path: str, source: bytes, language: str, limits: Limits = DEFAULTS, flags: tuple[str, ...] = ()
) -> Extract:
    """Extract only the symbols and repeated keys. Takes the arguments of `extract`; no limit on chunks applies.

    Raises:
        OutOfTime: The parser took too long.
    """
    if language == TEXT:
        return Extract(TEXT, "")
    source = _readable(path, source, language)
    _, captured, reader, limit = _parse(path, source, language, limits, flags, QueryPart.DEFINITIONS)
    symbols = own_digests(language, captured, reader.symbols)
    claims = tuple(repeated_keys(path, language, captured, reader.finder))
    return Extract(language, "", symbols=tuple(reader.with_tables(symbols)), claims=claims, limit=limit)


def extract_text(source: bytes, language: str, limits: Limits, limit: str = "", path: str = "") -> Extract:
    """Extract a file as plain text, since its language has no grammar or `limit` says why it was not parsed."""
    chunks = chunk_text(source)
    if len(chunks) > limits.max_file_chunks:
        limit = graver("too_many_chunks", limit)
    package, entries = npm_package_of(path, source)
    return Extract(
        language,
        package or package_of(path, source),
        imports=entries,
        calls=tuple(template_includes(language, path, source) if language == TEXT else ()),
        chunks=chunks[: limits.max_file_chunks],
        limit=limit,
    )


def _readable(path: str, source: bytes, language: str) -> bytes:
    regions = load_languages()[language].regions_in(path)
    return source if regions is None else regions.readable(source)


def _parse(
    path: str, source: bytes, language: str, limits: Limits, flags: tuple[str, ...], part: QueryPart
) -> tuple[ParsedFile, Captures, SymbolReader, str]:
    """Parse a file: (tree, query matches, symbols, the limit that cut the symbols or "" if they are complete)."""
    spec = load_languages()[language]
    text, regions = decodable(source), spec.regions_in(path)
    parsed = spec.parse(text if regions is None else regions.parsable(text), limits)
    rest = partial(spec.matches_of, parsed, limits, QueryPart.USES) if part is QueryPart.DEFINITIONS else None
    captured = Captures(spec.matches_of(parsed, limits, part), source, parsed.text, parsed.uses, rest)
    tags = conditions.Tags(spec.conditions, language, conditions.File(path, source, captured.conditions, flags))
    reader = SymbolReader(spec, captured, tags)
    limit = reader.read(limits.max_file_symbols)
    if not limit and is_deep(parsed.tree, limits.max_nesting):
        limit = "too_deep"
    return parsed, captured, reader, limit


def _calls(
    language: str, captured: Captures, finder: Finder, symbols: list[Symbol], caller: Callable[[int], int],
    narrowed: NarrowedTypes,
) -> list[Call]:  # fmt: skip
    defined = {entity.name_node.start_byte for entity in finder.entities if entity.name_node is not None}
    calls: dict[int, Call] = {}
    bare: list[Node] = []
    has_crates = has_rule(language, "crates")
    for captures in captured.calls:
        names = captures.get("callee")
        if not names:
            continue
        if "bare" in captures:
            bare += names
            continue
        node = names[0]
        at = node.start_byte
        receiver = captures.get("receiver")
        # A defined name is a call only with a receiver, as in Elixir's defdelegate. Of two matches at one place, the
        # one with a receiver counts.
        if (not receiver and (at in defined or at in calls)) or (captured.uncalled and captured.is_uncalled(at)):
            continue
        if at in calls and calls[at].name.endswith("=") and "setter" not in captures:
            continue
        owner = (receiver_of(receiver[0]) or outline(captured, receiver[0])) if receiver else ""
        if receiver and has_crates:
            owner = path_before(captured.source, receiver[0].start_byte) + owner
        if narrowed and owner:
            owner = narrowed.receiver(owner, at)
        count, text = arguments(language, captured, captures["call"][0], node)
        calls[at] = Call(captured.called(captures), owner, captured.row(at) + 1, caller(at), count, text)
    bound = bound_names(captured, finder, symbols) if bare else set()
    for node in bare:
        at, name = node.start_byte, captured.text(node)
        if at in defined or at in calls or captured.is_uncalled(at):
            continue
        if not _is_bound(finder.symbol(at), name, symbols, bound):
            calls[at] = Call(name, "", captured.row(at) + 1, caller(at))
    return [*calls.values(), *_expansions(captured, finder)]


def _caller(
    finder: Finder, symbols: list[Symbol], anonymous: Anonymous | None, *, of_variables: bool
) -> Callable[[int], int]:
    """Make the function that returns the innermost function around a byte, numbered as `Call.caller`."""
    starts = {entity.symbol: entity.start for entity in finder.entities if entity.symbol >= 0} if anonymous else {}
    callers: dict[int, int] = {}  # of entities

    def caller(byte: int) -> int:
        enclosing = finder.enclosing(byte)
        if enclosing not in callers:
            callers[enclosing] = finder.caller(byte, symbols, of_variables=of_variables)
        return callers[enclosing] if anonymous is None else anonymous.caller(byte, callers[enclosing], starts)

    return caller


def _expansions(captured: Captures, finder: Finder) -> Iterator[Call]:
    """The calls in the texts of macros and in functions that macros define, and the uses of such macros."""
    used: set[int] = set()
    line, at = 1, 0
    for name, start in captured.uses:
        line, at = line + captured.source.count(b"\n", at, start), start
        yield Call(name, "", line, finder.user(start))
    for entity, called in captured.generated:
        line = entity.node.start_point[0] + 1
        if entity.name_node is not None and entity.start not in used:
            used.add(entity.start)
            yield Call(captured.text(entity.name_node), "", line, -1)
        if entity.symbol >= 0:
            yield from (Call(call.name, call.receiver, line, entity.symbol, call.arguments) for call in called)
    for _, start, end in captured.expansions:
        macro = finder.symbol(start - 1)
        for call in called_in(captured.source, start, end) if macro >= 0 else ():
            yield Call(call.name, call.receiver, captured.row(call.start) + 1, macro, call.arguments)


def _is_bound(index: int, name: str, symbols: list[Symbol], bound: set[tuple[int, str]]) -> bool:
    """Whether the symbol of index `index` or an enclosing symbol binds a name as a local, parameter or member."""
    while index >= 0:
        if (index, name) in bound:
            return True
        index = symbols[index].parent
    return (-1, name) in bound


def _imports(captured: Captures) -> list[Import]:
    imports: list[Import] = []
    for captures in captured.imports:
        line = captured.row(captures["import"][0].start_byte) + 1
        if captures["import"][0].type == "use":
            imports.extend(Import(*item, line) for item in used_in(captured.source, captures["import"][0].start_byte))
            continue
        if "import.listed" in captures:
            imports.extend(_amd_imports(captured, captures, line))
            continue
        module = _module(captured, captures)
        alias = "".join(captured.text(n) for n in captures.get("import.alias", [])[:1])
        names = [without_colon(captured.text(n)) for n in captures.get("import.name", [])]
        for role, name in (("import.all", "*"), ("import.default", "default")):
            names = [name] if role in captures else names
        names = names or [""]
        imports.extend(Import(module, name, alias, line) for name in names)
    return imports


def _amd_imports(captured: Captures, captures: dict[str, list[Node]], line: int) -> Iterator[Import]:
    """The modules in the list of AMD's `define` or `require`, each with the parameter that the module is bound to."""
    modules = [child for child in captures["import.listed"][0].named_children if child.type != "comment"]
    parameters = [
        child for names in captures.get("import.names", ()) for child in names.named_children if child.type != "comment"
    ]
    for number, node in enumerate(modules):
        module = captured.text(node).strip("\"'`")
        name = parameters[number] if number < len(parameters) else None
        if node.type == "string" and module not in ("require", "exports", "module"):
            yield Import(
                module, "", captured.text(name) if name is not None and name.type == "identifier" else "", line
            )


def _module(captured: Captures, captures: dict[str, list[Node]]) -> str:
    """The name of the imported module: the text from the first to the last @import.module; nested lists are joined."""
    nodes = captures.get("import.module", [])
    if not nodes:
        return ""
    start, end = nodes[0].start_byte, nodes[-1].end_byte
    for name in captures.get("import.name", []):
        if start < name.start_byte < end:
            end = name.start_byte - 1  # the name is the path's last part (Kotlin, Scala, Swift), after a dot
    text = captured.source[start:end].decode("utf-8", "replace")
    if "{" in text:
        text = "::".join(map(captured.text, nodes))
    return text.strip("\"'`<> ")


def _bases(captured: Captures, finder: Finder, symbols: list[Symbol]) -> Iterator[tuple[int, Node]]:
    """For each base of a type of the file: (symbol index of the type, node of the base)."""
    types = {symbol.name: index for index, symbol in reversed(list(enumerate(symbols))) if symbol.kind in TYPE_KINDS}
    for node in captured.bases:
        index = finder.enclosing(node.start_byte)
        while index >= 0 and captured.entities[index].symbol < 0 and captured.entities[index].role != "scope":
            index = captured.entities[index].outer
        if index < 0:
            continue
        entity = captured.entities[index]
        owner = types.get(plain_name(entity.name).rpartition(".")[2], -1) if entity.role == "scope" else entity.symbol
        if owner >= 0:
            yield owner, node
