"""Says what a second definition of a name does, by language: `[conflicts]` of language.toml (see docs/languages.md)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.source.text.language_tables import table_of
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    import re


class Rules(NamedTuple):
    """The conflict rules of one language. The defaults apply to languages without a table `[conflicts]`."""

    dialect: str = ""  # module and name of its conditions as logic, below `logic`
    second: str = (
        "hides"  # what a second definition does: `replaces` the first, is `rejected`, or hides it from there on
    )
    scope: str = "file"  # `file`, `folder`, or `source_set`: the folder that holds the source sets
    linked: str = ""  # what several files define for one program: `functions`, or members of `namespaces`
    folder: frozenset[str] = frozenset()  # groups of kinds that two files of a folder cannot both define
    project: re.Pattern[str] | None = None  # the folder that is compiled as a whole; two of its files share no module
    last_wins: bool = False  # of duplicates, the last one counts
    assigns: bool = False  # an assignment changes a variable rather than defines it
    declared_once: bool = False  # a constant or variable is declared once in its scope …
    declared_inside: bool = False  # … of any kind only inside a type, a field always
    typed_values: bool = False  # a declared value has its type after its name
    one_space: bool = False  # functions, types and values share one space of names
    classes_called: bool = False  # a function replaces a class of its name, and the other way round
    clauses: bool = False  # a function may be written as several clauses, which are one definition
    clause_words: frozenset[str] = frozenset()  # of which all clauses of a function have one
    reopened: frozenset[str] = frozenset()  # groups of kinds that a second definition adds to
    overloads: bool = False  # parameters tell functions apart
    by_arity: bool = False  # so does their number alone
    by_name: bool = False  # nothing but the name counts
    overload_by: str = ""  # what else tells overloads apart: `head`, all before the name, or a word of it
    specialised: bool = False  # arguments of types tell them apart
    static_clashes: bool = False  # a static method and another one of the same parameters clash
    names_first: bool = False  # a parameter's name comes before its type
    not_types: re.Pattern[str] | None = None  # parts of parameters that do not tell overloads apart
    types_by_name: bool = False  # nor do the parameters of types
    open_types: bool = False  # a namespace or a type has several parts
    file_parts: bool = False  # a dot in a file's name makes it one of several that a project chooses
    c_macros: bool = False  # a macro's use may look like a definition, and #define may tell conditions apart
    modules: bool = False  # other files say under which condition a file is a module
    run_time: bool = False  # values depend on what the program finds out while it runs, even under a platform
    # Over `KIND NAME\nSIGNATURE`: what is no definition, and what is never one too many.
    exempt: re.Pattern[str] | None = None
    repeatable: re.Pattern[str] | None = None
    sure: re.Pattern[str] | None = None  # over `KIND PATH`: what is sure in a file that does not parse
    # For `source.conditions.paths` and `source.extract.traits`:
    platform_paths: bool = False  # a build, or the program as it starts, mostly chooses files by platform
    platform_suffixes: bool = False  # bundlers take the file with the suffix that fits
    traits: str = ""  # how the traits of definitions are read
    plain_attributes: frozenset[str] = frozenset()  # attributes that leave an item its name
    comments: str = ""  # comments, where the text between two definitions tells whether the first one is used
    block_scopes: bool = False  # blocks are scopes
    unnamed_uses: str = ""  # names of definitions that are used without being named


_PATTERNS = frozenset({"project", "not_types", "exempt", "repeatable", "sure"})


@cache
def rules_of(language: str) -> Rules:
    """The conflict rules of a language."""
    fields: dict[str, Any] = {}
    for key, value in table_of(language).get("conflicts", {}).items():
        fields[key] = lazily(value) if key in _PATTERNS else frozenset(value) if isinstance(value, list) else value
    return Rules(**fields)
