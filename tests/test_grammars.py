"""Every folder of grammars/ keeps the interface that docs/languages.md describes: keys, captures, kinds, suffixes."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from tree_sitter import Query

from lci_py.callgraph import language_rules
from lci_py.search.conflicts import logic, rules
from lci_py.search.conflicts.rules import Rules
from lci_py.source import conditions
from lci_py.source.extract import traits
from lci_py.source.stated_values import code_defaults
from lci_py.source.syntax import languages
from lci_py.source.syntax.languages import TEXT, LanguageSpec, QueryPart, detect, grammars_dir, load_languages
from lci_py.types.search import KINDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = Path(__file__).resolve().parent.parent / "docs" / "languages.md"
FOLDERS = sorted(path for path in grammars_dir().iterdir() if path.is_dir())
REGEXES = ("constant", "blank", "prefer_if", "comment_marks")
LISTS = (
    "aliases",
    "suffixes",
    "filenames",
    "interpreters",
    "test_files",
    "self_names",
    "super_names",
    "own_types",
    "shared_suffixes",
    "call_rules",
    "shared_queries",
)
CONDITIONS = (*conditions._FAMILIES, "none")
#: Each role needs these beside it; without them the extractor drops the match.
NEEDED = {"scope": {"name"}, "call": {"callee"}, "import.module": {"import"}, "import.name": {"import"}}

each_language = pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])


@lru_cache(maxsize=1)
def _documented() -> tuple[set[str], set[str], set[str]]:
    """The keys of language.toml (tables dotted), the captures, and the kinds that the document names."""
    text = DOCS.read_text("utf-8")
    settings, _, rest = text.partition("\n## Captures")
    captures_table = (
        rest.partition("\nKIND is one of")[0] if "\nKIND is one of" in rest else rest.partition("KIND is")[0]
    )
    keys: set[str] = set()
    for row in re.findall(r"^\| *(`[^|]+`) *\|", settings, re.MULTILINE):
        table = ""
        for name in re.split(r",\s*", row.replace("`", "")):
            match = re.match(r"\[(\w+)\]\s*(\w+)$", name)
            if match:
                table, name = match.group(1), match.group(2)
            keys.add(f"{table}.{name}" if table else name)
    captures = set(re.findall(r"`@([\w.]+)`", captures_table)) - {"definition.KIND"}
    listing = re.search(r"KIND is one of:?([^.]+)\.", rest)
    assert listing is not None, "docs/languages.md no longer lists the kinds"
    return keys, captures, set(re.findall(r"[a-z_]+", listing.group(1)))


#: Captures that say what a definition is: the first stage of extraction has no others.
EARLY = {
    "scope",
    "local",
    "static",
    "docstring",
    "comment",
    "attribute",
    "expansion",
    "function",
    "condition",
    "import",
    "keys",
}


def _data(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "language.toml").read_text("utf-8"))


def _spec(folder: Path) -> LanguageSpec:
    return load_languages()[folder.name]


def _patterns(folder: Path) -> list[tuple[str, int, set[str]]]:
    """File, line and captures of each pattern of the combined query."""
    spec = _spec(folder)
    source = spec.query_source().encode()
    query = Query(spec.language, spec.query_source())
    found = []
    for index in range(query.pattern_count):
        start, end = query.start_byte_for_pattern(index), query.end_byte_for_pattern(index)
        code = re.sub(rb'"(?:\\.|[^"\\])*"', b'""', source[start:end])
        code = re.sub(rb";[^\n]*", b"", code)
        names = {name.decode() for name in re.findall(rb"@([\w.]+)", code)}
        found.append((*_place(folder, source.count(b"\n", 0, start)), names))
    return found


def _place(folder: Path, row: int) -> tuple[str, int]:
    """The file and line of a row of the combined query."""
    for path in _spec(folder).query_files:
        rows = path.read_text("utf-8").count("\n") + 1
        if row < rows:
            return path.name, row + 1
        row -= rows
    raise AssertionError(f"the combined query of {folder.name} is longer than its files")


def test_the_document_lists_the_interface() -> None:
    keys, captures, kinds = _documented()
    assert {"suffixes", "constant", "grammar.module", "grammar.function", "visibility.private_name"} <= keys
    assert {"name", "body", "parent", "scope", "local", "call", "callee", "import.alias", "base"} <= captures
    assert kinds == set(KINDS)


@each_language
def test_the_settings_use_documented_keys_of_the_right_type(folder: Path) -> None:
    data = _data(folder)
    flat = {
        f"{table}.{key}" if key else table: value
        for table, content in data.items()
        for key, value in (content.items() if isinstance(content, dict) else [("", content)])
    }
    unknown = set(flat) - _documented()[0]
    assert not unknown, f"{folder.name}/language.toml has keys that docs/languages.md does not describe: {unknown}"
    for key in LISTS:
        value = flat.get(key, [])
        assert isinstance(value, list), key
        assert all(isinstance(item, str) and item for item in value), key
        assert len(set(value)) == len(value), f"{key} repeats itself"
    for key in (*REGEXES, "visibility.public", "visibility.private", "visibility.private_name"):
        re.compile(flat.get(key, ""))
    assert isinstance(flat.get("visibility.default", True), bool)
    for given in flat.get("flag_defaults", ()):
        named = given in code_defaults._READERS if isinstance(given, str) else None
        assert named or re.compile(given["pattern"])
    assert flat.get("conditions", "none") in CONDITIONS
    given, fields = data.get("conflicts", {}), Rules._field_defaults
    for key, value in given.items():
        wanted = list if isinstance(fields[key], frozenset) else str if fields[key] is None else type(fields[key])
        assert isinstance(value, wanted), key
    assert given.get("second", "hides") in ("hides", "replaces", "rejected")
    assert given.get("scope", "file") in ("file", "folder", "source_set")
    assert given.get("traits", "modifiers") in traits._READERS
    for key in rules._PATTERNS | {"comments", "unnamed_uses"}:
        re.compile(given.get(key, ""))
    assert "dialect" not in given or logic._dialect(folder.name) is not logic._PLAIN
    for rule in flat.get("call_rules", ()):
        assert rule in language_rules.RULES, f"no such rule: {rule}"
    assert flat.get("suffixes") or flat.get("filenames") or flat.get("shared_suffixes"), "claims no file"
    for suffix in [*flat.get("suffixes", ()), *flat.get("shared_suffixes", ())]:
        assert re.fullmatch(r"\.[^./\\]+", suffix), f"{suffix}: detect() compares what follows the last dot"


@each_language
def test_the_combined_query_compiles_and_its_captures_are_documented(folder: Path) -> None:
    _, captures, kinds = _documented()
    spec = _spec(folder)
    assert spec.query_files, "no queries"
    assert spec.cursor() is not None
    for file, line, names in _patterns(folder):
        where = f"{folder.name}/{file}:{line}"
        assert names, f"{where}: the pattern captures nothing"
        defined = {name for name in names if name.startswith("definition.")}
        wrong = {name.partition(".")[2] for name in defined} - kinds
        assert not wrong, f"{where}: no such kind: {sorted(wrong)}"
        unknown = {name for name in names - defined if not name.startswith("_")} - captures
        assert not unknown, f"{where}: captures that docs/languages.md does not describe: {sorted(unknown)}"
        if defined:
            assert "name" in names, f"{where}: a definition needs a @name"
        early = defined | names & EARLY
        assert not early or QueryPart.DEFINITIONS.holds(Path(file).stem), f"{where}: {early} in a part matched later"
        for role, needed in NEEDED.items():
            assert role not in names or needed <= names, f"{where}: @{role} needs {sorted(needed)}"


@each_language
def test_the_files_it_claims_are_detected_as_its_own(folder: Path) -> None:
    spec = _spec(folder)
    for suffix in spec.suffixes:
        assert detect(f"some/folder/file{suffix}") == folder.name
    for filename in spec.filenames:
        assert detect(f"some/folder/{filename}") == folder.name
    for interpreter in spec.interpreters:
        assert detect("some/folder/script", f"#!/usr/bin/env {interpreter}\n".encode()) == folder.name


@each_language
def test_no_other_language_claims_the_same_files(folder: Path) -> None:
    claims: dict[str, set[str]] = defaultdict(set)
    for name, spec in load_languages().items():
        for claim in (*spec.suffixes, *spec.filenames):
            claims[claim].add(name)
        for interpreter in spec.interpreters:
            claims[f"#!{interpreter}"].add(name)
    spec = _spec(folder)
    mine = {*spec.suffixes, *spec.filenames, *(f"#!{program}" for program in spec.interpreters)}
    clashes = {claim: sorted(claims[claim]) for claim in mine if len(claims[claim]) > 1}
    assert not clashes, f"claimed by several languages (see shared_suffixes and prefer_if): {clashes}"
    for suffix in spec.shared_suffixes:
        assert spec.prefer_if is not None, "shared_suffixes without prefer_if never applies"
        assert detect(f"file{suffix}") != folder.name, f"{suffix} belongs to no other language"


def test_without_the_extra_the_files_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = ["a/main.tf", "Makefile", "rules.mk", "a.py", "notes.txt", "tf"]
    assert [detect(path) for path in paths[:3]] == ["hcl", "make", "make"] and not languages.absent_grammars(paths)
    with monkeypatch.context() as patch:
        extras = {"tree_sitter_hcl", "tree_sitter_make"}
        patch.setattr(languages, "find_spec", lambda name: None if name in extras else object())
        languages.load_languages.cache_clear()
        languages._by_key.cache_clear()
        assert [detect(path) for path in paths] == [TEXT, TEXT, TEXT, "python", TEXT, TEXT]
        assert detect("build", b"#!/usr/bin/make -f\n") == TEXT
        absent = {"hcl": {"files": 1, "extra": "languages"}, "make": {"files": 2, "extra": "languages"}}
        assert languages.absent_grammars(paths) == absent
    languages.load_languages.cache_clear()
    languages._by_key.cache_clear()


@pytest.mark.parametrize(
    ("word", "language"),
    [("py", "python"), ("RS", "rust"), ("ts", "typescript"), ("js", "javascript"), ("c++", "cpp"), ("cs", "csharp"),
     ("c#", "csharp"), ("sh", "bash"), ("rb", "ruby"), ("kt", "kotlin"), ("hs", "haskell"), ("objective-c", "objc"),
     ("ex", "elixir"), ("md", "markdown"), ("golang", "go"), ("c", "c"), ("h", "c"), ("nothing", "nothing")],
)  # fmt: skip
def test_a_language_goes_by_aliases_and_suffixes(word: str, language: str) -> None:
    assert languages.language_of(word) == language


def test_an_alias_is_of_one_language_and_no_name() -> None:
    specs = languages.load_languages()
    given = [alias for spec in specs.values() for alias in spec.aliases]
    assert len(set(given)) == len(given) and not set(given) & set(specs)
    assert all(alias == alias.lower() for alias in given)


#: Literals in lci_py that are spelled like the name of a language: how many a file may have, and why.
NAMED = {
    "callgraph/changed_lookups.py": (1, "the look-up of the files of Go's packages, as the index has it"),
    "callgraph/lookups.py": (2, "the same look-up"),
    "callgraph/pointsto/program_constraints.py": (1, "a letter for classes"),
    "callgraph/program.py": (1, "a letter for classes"),
    "callgraph/resolve/go_packages.py": (1, "the look-up of the files of Go's packages"),
    "callgraph/resolve/imports.py": (2, "suffixes of files"),
    "cli/completion.py": (1, "a shell"),
    "cli/options/__init__.py": (1, "a format of the output"),
    "cli/options/graph.py": (1, "a format of the output"),
    "cli/pick/preview.py": (4, "names that Pygments has not"),
    "index/shards/filters.py": (1, "the alias of a table"),
    "index/shards/symbol_queries.py": (2, "a query of the graph asks for the constructors of all languages at once"),
    "index/shards/symbols.py": (2, "the alias of a table"),
    "index/shards/unit_columns.py": (1, "prose"),
    "search/conflicts/logic/preprocessor.py": (1, "a word in conditions of Swift"),
    "search/conflicts/logic/scripts.py": (3, "what Jython calls its platform"),
    "search/conflicts/logic/targets.py": (3, "the variable for the version of Scala in conditions"),
    "search/navigate/references.py": (1, "prose"),
    "source/conditions/__init__.py": (3, "families of conditions, which a table names"),
    "source/conditions/jvm.py": (6, "folders, build tools and versions of Java, Kotlin and Scala"),
    "source/conditions/preprocessor.py": (1, "a family of conditions"),
    "source/repository/content.py": (1, "a suffix"),
    "source/repository/hooks.py": (1, "a program"),
    "source/stated_values/values.py": (1, "a group of an expression"),
    "source/stated_values/wording.py": (1, "a group of an expression"),
}


def test_languages_are_named_in_their_tables_only() -> None:
    names = {folder.name for folder in FOLDERS}
    package = Path(languages.__file__).resolve().parents[2]
    literal = re.compile(rf"""(["'])(?:{"|".join(names)})\1""")
    found: Counter[str] = Counter()
    for path in package.rglob("*.py"):
        where = path.relative_to(package).as_posix()
        if not where.startswith("training/"):
            source = path.read_text("utf-8")
            # To parse all takes seconds, and most files have no such text.
            nodes = ast.walk(ast.parse(source)) if literal.search(source) else ()
            found[where] = sum(isinstance(node, ast.Constant) and node.value in names for node in nodes)
    more = {where: count for where, count in found.items() if count > NAMED.get(where, (0, ""))[0]}
    assert not more, f"rules that differ by language belong into grammars/*/language.toml: {more}"
    fewer = {where: found[where] for where, (count, _) in NAMED.items() if found[where] < count}
    assert not fewer, f"NAMED allows more than there are: {fewer}"
