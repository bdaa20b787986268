"""Turns filters and names into SQL conditions on the symbolic shards, so that they mean the same in every search mode.

One SQL index of kinds and numbers of names answers questions about both. For a qualified name that differs from the
name, and for the spelling (`getHttp` and `get_http` have the same), the SQL index has only a hash: a look-up must
compare the names of the rows that it gets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from lci_py.errors import BadGlobError, UsageError
from lci_py.source.text.words import joined_spelling
from lci_py.types.search import BLOCK_KIND, KINDS, TYPE_KINDS, Changed, Filters

_T = TypeVar("_T")
#: Values in one SQL condition. SQLite's own limits are 999 variables in old builds, and expressions 1,000 deep.
MAX_VALUES = 500
#: The number that stands for a kind in the shard.
KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_KINDS = ",".join(map(str, KIND_NUMBER.values()))
#: Numbers that no definition has: that of blocks, and that of unknown kinds.
_BLOCK, _NO_KIND = -1, -2
#: Conditions for the rows of files `f`, which follow each other: symbols, units, chunks.
OF_FILE = {
    "s": "s.id >= f.first_symbol AND s.id < f.first_symbol + f.symbols",
    "u": "u.id >= f.first_unit AND u.id < f.first_unit + f.units",
    "c": "c.id >= f.first_chunk AND c.id < f.first_chunk + f.chunks",
}
#: The symbols, units or chunks of files; CROSS JOIN tells SQLite which table to read first.
SYMBOLS_OF = f"FROM files f CROSS JOIN symbols s ON {OF_FILE['s']} AND s.file = f.id"
#: The condition that only a test build has a definition (Rust).
TEST_BUILD = "(s.build_tag = 'test' OR s.build_tag LIKE 'test && %')"
_MAX_GLOB = 10_000  # characters; SQLite refuses patterns of more than 50,000 bytes
_GLOB = re.compile(r"[*?[]")
#: The last character in the order of SQLite.
_LAST = "\U0010ffff"
_SET = re.compile(r"\[[!^]?\]?[^\]]*\]")


def where(filters: Filters, *, by_index: bool = False) -> tuple[str, list[object]]:
    """The filters as (SQL condition over the tables `f` (files), `s` (symbols) and `p` (their parents), its values).

    The condition leaves out the filters on paths, which `path_test` checks.

    Args:
        by_index: Whether to use the SQL index of kinds and names, since no other condition narrows the symbols (there
            may be millions). Then every row must have a symbol.
    Raises:
        UsageError: There are too many names.
    """
    clauses: list[str] = []
    args: list[object] = []
    if filters.lang:
        names = languages(filters)
        clauses.append(f"f.language IN ({marks(names)})")
        args += names
    if filters.kind:
        kind = "s.kind_number" if by_index else f"coalesce(s.kind_number, {_BLOCK})"
        numbers = KIND_NUMBER | {BLOCK_KIND: _BLOCK}
        clauses.append(f"{kind} IN ({','.join(str(numbers.get(kind.lower(), _NO_KIND)) for kind in filters.kind)})")
    for column, globs in (("s.name", filters.name), ("p.name", filters.parent)):
        if len(globs) > MAX_VALUES:
            raise UsageError(f"{len(globs):,} names in one filter", hint=f"give at most {MAX_VALUES}")
        if globs:
            patterns = [name_glob(glob) for glob in globs]
            starts = [_GLOB.split(glob, 1)[0] for glob in patterns]
            # Unless a start narrows them, there are more names than definitions of most kinds.
            all_names = not filters.kind or "macro" in map(str.lower, filters.kind)
            if by_index and column == "s.name" and (all_names or all(starts)):
                matches = " OR ".join(f"{starting_with(start)} AND name GLOB ?" for start in starts)
                clauses.append(names_in("s.", matches))
            else:
                clauses.append("(" + " OR ".join(f"{column} GLOB ?" for _ in globs) + ")")
            args += patterns
    if filters.no_tests:
        clauses.append(f"NOT coalesce({TEST_BUILD}, 0)")
    if filters.changed is not None:
        clause, own = _changed(filters.changed, by_index=by_index)
        clauses.append(clause)
        args += own
    return " AND ".join(clauses) or "1", args


def _changed(changed: Changed, *, by_index: bool) -> tuple[str, list[object]]:
    """(condition, values) for changed definitions `s`; if not `by_index`, for the units `u` that contain changes."""
    import json

    ids = ",".join(f"x'{bytes.fromhex(id).hex()}'" for id in sorted(changed.ids))
    if by_index:
        return f"s.sid_bytes IN ({ids})", []
    # What has no unit, such as a field, is in that of its type; or in a block of its file, it is not known which.
    own = f"FROM symbols o LEFT JOIN symbols a ON a.id = o.parent WHERE o.sid_bytes IN ({ids})"
    units = f"u.id IN (SELECT coalesce(o.unit, a.unit) {own})"
    loose = f"coalesce(s.kind_number, {_BLOCK}) IN ({_BLOCK}, {KIND_NUMBER['section']})"
    files = "f.path IN (SELECT value FROM json_each(?))"
    files += f" OR f.id IN (SELECT o.file {own} AND coalesce(o.unit, a.unit) IS NULL)"
    return f"({units} OR {loose} AND ({files}))", [json.dumps(sorted(changed.outside))]


def languages(filters: Filters) -> list[str]:
    """The names of the languages that pass the filters, aliases resolved; [] if all languages pass."""
    if not filters.lang:
        return []
    from lci_py.source.syntax.languages import language_of

    return sorted({language_of(word) for word in filters.lang})


def path_test(filters: Filters) -> Callable[[str], bool] | None:
    """A function that tells whether a path passes the filters; None if all paths pass.

    Raises:
        BadGlobError: A path filter is not a glob.
    """
    changed = filters.changed
    if not (filters.path or filters.exclude or filters.file or filters.repo or filters.no_tests or changed):
        return None
    is_test: Callable[[str], bool] | None = None
    if filters.no_tests:
        from lci_py.source.syntax.languages import is_test
    include = _path_matcher(filters.path) if filters.path else None
    exclude = _path_matcher(filters.exclude) if filters.exclude else None
    names = set(filters.file)
    repositories = _matches_globs(filters.repo) if filters.repo else None

    def passes(path: str) -> bool:
        return (
            (changed is None or path in changed.files)
            and (include is None or include(path))
            and (exclude is None or not exclude(path))
            and (not names or path in names or path.rsplit("/", 1)[-1] in names)
            and (repositories is None or repositories(path.partition("/")[0]))
            and (is_test is None or not is_test(path))
        )

    return passes


def row_test(filters: Filters, name: str = "") -> Callable[..., bool]:
    """A function that tests rows that do not come from SQL. Its arguments: `file`, `language`, `kind` ("" for no
    definition), `symbol` (the row's name or subject) and `qualified_name`.

    Args:
        filters: The filters that a row must pass, including the filters on paths.
        name: A name, a qualified name or its end, or a glob, perhaps after `FILE::`; "" for any.
    Raises:
        BadGlobError, UsageError: A filter cannot be used.
    """
    path, langs = path_test(filters), languages(filters)
    kinds = {kind.lower() for kind in filters.kind}
    file_end, _, rest = name.rpartition("::")
    dotted = name.replace("::", ".")

    def like(text: str, globs: Iterable[str]) -> bool:
        from fnmatch import fnmatchcase

        return any(fnmatchcase(text, name_glob(glob).replace("[^", "[!")) for glob in globs)

    def passes(*, file: str, language: str, kind: str, symbol: str, qualified_name: str) -> bool:
        is_there = not file_end or f"/{file}".endswith(f"/{file_end}")
        return (
            (path is None or path(file))
            and (not langs or language in langs)
            and (not kinds or kind in kinds)
            and (not filters.name or like(symbol, filters.name))
            and (not filters.parent or ("." in qualified_name and like(qualified_name.split(".")[-2], filters.parent)))
            and (
                not name
                or f".{qualified_name}".endswith(f".{dotted}")
                or (is_there and (like(symbol, [rest]) or like(qualified_name, [rest])))
            )
        )

    return passes


def _matches_globs(globs: Sequence[str]) -> Callable[[str], bool]:
    """A function that tells whether a name matches one of the globs; it compares each name once."""
    from fnmatch import fnmatchcase
    from functools import cache

    return cache(lambda name: any(fnmatchcase(name, glob) for glob in globs))


def batches(values: Sequence[_T], size: int = MAX_VALUES) -> Iterator[Sequence[_T]]:
    """The values in batches that are small enough for one SQL condition."""
    return (values[start : start + size] for start in range(0, len(values), size))


def marks(values: Sequence[object]) -> str:
    """The SQL placeholders (?,?) for a list of values."""
    return ",".join("?" * len(values))


def name_glob(glob: str, *, strict: bool = True) -> str:
    """Convert a glob to the form of SQLite's GLOB, where `[!a]` is written `[^a]`.

    Raises:
        BadGlobError: The glob is too long, or (if `strict`) has an unclosed bracket, which would match nothing.
    """
    if len(glob) > _MAX_GLOB:
        raise BadGlobError(f"a glob of {len(glob):,} characters", hint=f"give at most {_MAX_GLOB:,}")
    if strict and "[" in _SET.sub("", glob):
        raise BadGlobError(f"bad glob {glob!r}: [ is not closed", hint="write [[] for the character itself")
    return glob.replace("[!", "[^")


def own_name(kind: str, name: str) -> str:
    """The name by which a definition is looked up: the last part (`Conn`) of a type or module `Plug.Conn`, as for
    `Conn` inside `Plug`. A namespace or a section with a dot in its name keeps its whole name.
    """
    nested = kind in TYPE_KINDS or kind == "module"
    return (name.rpartition(".")[2] if nested else "") or name


def joined_name(kind: str, name: str) -> str:
    """The spelling of the name by which a definition is looked up (`own_name`)."""
    return joined_spelling(own_name(kind, name))


def spelling(text: str) -> int:
    """A hash of a spelling, below 2^31."""
    from zlib import crc32  # most commands look up no spelling

    return crc32(text.encode("utf-8", "surrogatepass")) >> 1


def only_in_tests(build_tag: str | None) -> bool:
    """Whether a definition with this build condition exists only in test builds (`TEST_BUILD`)."""
    return build_tag is not None and build_tag.partition(" && ")[0] == "test"


def names_in(column: str, condition: str) -> str:
    """An SQL condition for definitions whose names, rows of `names`, meet a condition; `column` is the table's prefix,
    such as `s.`.
    """
    return f"({column}kind_number IN ({_KINDS}) AND {column}name_number IN (SELECT id FROM names WHERE {condition}))"


def starting_with(start: str, table: str = "names", column: str = "name") -> str:
    """An SQL condition for rows of `names` (or of `texts`) that begin with a text. These ascend with their numbers."""
    if not start:
        return "1"
    low, high = (
        f"(WITH RECURSIVE part (low, high) AS (SELECT 0, max(id) + 1 FROM {table} UNION ALL SELECT "
        f"CASE WHEN {column} < {text} THEN id + 1 ELSE low END, CASE WHEN {column} < {text} THEN high ELSE id END "
        f"FROM part CROSS JOIN {table} ON id = (low + high) / 2 WHERE low < high) SELECT max(low) FROM part)"
        for text in (f"CAST(x'{end.encode('utf-8', 'replace').hex()}' AS TEXT)" for end in (start, f"{start}{_LAST}"))
    )
    return f"id >= {low} AND id < {high}"


def named_in(column: str, names: Sequence[str]) -> str:
    """An SQL condition for definitions with one of the names, which are its values; for `column`, see `names_in`."""
    parts = {*names, *(name.rpartition(".")[2] or name for name in names)}
    return names_in(column, f"{_hashed('spelled', map(joined_spelling, parts))} AND name IN ({marks(names)})")


def _hashed(column: str, texts: Iterable[str]) -> str:
    return f"{column} IN ({','.join(map(str, sorted(set(map(spelling, texts)))))})"


def kinds_in(column: str, kinds: Iterable[str]) -> str:
    """An SQL condition for definitions of one of these kinds; `column` is the table's prefix, such as `s.`."""
    return f"{column}kind_number IN ({','.join(str(KIND_NUMBER[kind]) for kind in sorted(kinds))})"


def qualified_in(column: str, names: Sequence[str]) -> str:
    """An SQL condition for definitions with one of the qualified names; its values are the names, twice."""
    same = f"{column}qualified_hash IS NULL AND {named_in(column, names)}"
    hashed = _hashed(f"{column}qualified_hash", names)
    return f"({hashed} AND {column}qualified_name IN ({marks(names)}) OR {same})"


def ending_in(name: str, plain: str) -> tuple[str, list[object]]:
    """(condition, values) for definitions `s` that have this name, or a qualified name that ends with it.

    Args:
        name: The name as written.
        plain: The name with dots between its parts.
    """
    # A qualified name ends with the name, which may have dots in it (a module `A.B`).
    parts = plain.split(".")
    ends = sorted({name, *(".".join(parts[first:]) for first in range(len(parts)))})
    fits = "(s.name IN (?, ?) OR s.qualified_name = ? OR substr(s.qualified_name, -length(?) - 1) = '.' || ?)"
    values = [name, plain, plain, plain, plain]
    return f"({named_in('s.', ends)} AND {fits} OR {DOTTED} AND {fits})", [*ends, *values, *values]


def spelled_in(spellings: Sequence[str]) -> str:
    """An SQL condition for definitions `s` that may have one of these spellings (from `joined_name`)."""
    return names_in("s.", _hashed("spelled", spellings))


#: The condition that a definition `s` has a dot in its name.
DOTTED = names_in("s.", "instr(name, '.')")
#: A bracket that opens a character class and is not closed: for git such a pattern matches nothing.
_OPEN_CLASS = re.compile(r"(?<!\\)\[(?![!^]?\]?[^\]]*\])")


def _path_matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    """A function that tests paths by gitignore-style globs: a glob without a slash matches at any depth, and a folder
    includes its content.

    The function's time is proportional to the path's length for any glob.
    """
    from lci_py.source.repository.ignore_rules import IgnoreRules

    for glob in globs:
        if not glob.strip() or glob.startswith("!"):
            raise BadGlobError(f"bad glob {glob!r}", hint="use --exclude to leave paths out")
        if _OPEN_CLASS.search(glob):
            raise BadGlobError(f"bad glob {glob!r}: a [ without its ]", hint="write [[] for a bracket itself")
        if len(glob) > _MAX_GLOB:
            raise BadGlobError(f"a glob of {len(glob):,} characters", hint=f"give at most {_MAX_GLOB:,}")
    lines = [f"\\{glob}" if glob.startswith("#") else glob for glob in globs]
    # To git, `a/**/` is the folders below `a`; whoever asks for it here means what is in them as well.
    rules = IgnoreRules(
        [line[:-1] if line.strip("*/") and line.endswith("/**/") else line for line in lines], strict=True
    )
    folders = {"": False}  # whether a folder matches, or one around it

    def covers(folder: str) -> bool:
        if folder not in folders:
            parent, _, name = folder.rpartition("/")
            folders[folder] = covers(parent) or rules.match(name, folder, True) is not None
        return folders[folder]

    def matches(path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return covers(folder) or rules.match(name, path, False) is not None

    return matches
