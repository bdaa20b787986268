"""Which definitions of one symbol contradict each other: the rule of docs/conflicts.md, as functions over rows.

Precision comes first. A definition that the rule cannot place is no conflict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.source.conditions import conjuncts
from lci_py.source.conditions.paths import platform_stem, source_root
from lci_py.source.text.patterns import lazily
from lci_py.types.search import FUNCTION_KINDS, RELATIONS, TYPE_KINDS, DefinitionSite

if TYPE_CHECKING:
    from lci_py.search.conflicts import logic
else:

    class _Logic:
        """`search.conflicts.logic`, imported when two conditions are compared: most results have one definition."""

        def __getattr__(self, name: str) -> Any:
            from lci_py.search.conflicts import logic as found

            setattr(self, name, getattr(found, name))
            return getattr(found, name)

    logic = _Logic()


class Site(NamedTuple):
    """One definition, as the index has it."""

    symbol_id: str
    file: str
    line: int
    name: str
    qualified_name: str
    kind: str
    language: str
    signature: str
    build_tag: str | None = None
    is_test: bool = False
    traits: frozenset[str] = frozenset()  # words of `source.extract.traits.TRAITS`
    parent: int = -1  # number of the definition around it
    digest: str = ""  # of its own text
    arity: int = -1  # as in `types.source.Symbol`
    broken: bool = False  # whether its file does not parse as a whole
    path_tag: str | None = None  # the part of `build_tag` that its path, or the modules around it, state
    scope: str = ""  # what stands for the file, where variants of one scope lie in several files


#: The kinds that can define one thing twice. A namespace is reopened; an enum's member is found through its enum.
GROUPS = {
    **dict.fromkeys(FUNCTION_KINDS, "callable"),
    **dict.fromkeys(TYPE_KINDS | {"type"}, "type"),
    **dict.fromkeys(("constant", "variable", "field", "property"), "value"),
    "module": "module",
}
_OVERLOADING = frozenset({"cpp", "csharp", "java", "kotlin", "scala", "swift", "typescript", "tsx"})
# Languages whose linker or assembly joins files, so that files may define one symbol under different conditions.
_LINKED = frozenset({"c", "cpp", "csharp", "objc"})
#: Languages whose bundlers take the file with the suffix that fits.
_SUFFIXED = frozenset({"javascript", "typescript", "tsx"})
#: Languages that run from top to bottom: a later definition replaces the one before.
_SEQUENTIAL = frozenset({"python", "javascript", "typescript", "tsx", "ruby", "php", "lua", "bash", "elixir"})
#: Of these, those in which the same name twice without a condition is accepted, and the last one wins.
_LAST_WINS = frozenset({"python", "javascript", "ruby", "lua", "bash"})
#: A function may be written as several clauses, which are one definition.
_CLAUSES = frozenset({"elixir", "haskell"})
_ENTRY_POINTS = frozenset({"main", "Main", "wmain", "WinMain", "wWinMain", "DllMain", "LLVMFuzzerTestOneInput"})
#: Parts of a condition that decide at run time which definition counts.
_RUN_TIME = lazily(r"(?:try|try else|except\b.*|begin|begin else|rescue\b.*|catch\b.*)$", re.DOTALL)
#: What a condition on the environment of a program mentions.
_ENVIRONMENT = lazily(
    r"platform|version|os\.name|\bPY[23]\b|process\.|import\.meta|__DEV__|typeof |RUBY_|PHP_|Mix\.|jit\b|flag\(",
    re.IGNORECASE,
)
_TYPES_ONLY = lazily(r"(?!.*\bor\b)(?!not\b)(?:.*\band )?(?:\w+\.)?TYPE_CHECKING\b(?!.*[=(])")
#: Words that name nothing: a placeholder, and remains of JavaScript that does not parse.
_NO_NAMES = frozenset({"_", "if", "for", "while", "switch", "catch"})
#: Traits of rows that do not count as definitions: the signatures of an overload and a property's setter are parts of
#: one.
_PARTS = frozenset({"accessor", "overload", "declaration", "partial", "expect", "local"})


def group_key(site: Site) -> tuple[str, ...]:
    """The key that all definitions of one symbol share.

    Where files are linked together, the key leaves out the file and `definitions` narrows further.
    """
    group = GROUPS.get(site.kind, "")
    overload = str(site.arity) if site.language == "elixir" else ""
    if site.language in _OVERLOADING and group != "value":
        overload = _parameters(site.name, site.signature, group)
    owner = " ".join(sorted(word for word in site.traits if word == "static" or word.startswith("impl:")))
    return (
        site.language, site.qualified_name, group, "test" if site.is_test else "", _place(site), overload, owner
    )  # fmt: skip


def definitions(
    sites: Sequence[Site], branch: str | None, machine: Callable[[], logic.Machine]
) -> tuple[DefinitionSite, ...]:
    """The defining sites of the first site's symbol if they are a conflict, ordered by file and line; else ().

    Args:
        sites: The one that is asked about, then any others of its qualified name; those of another symbol, scope or
            overload are passed over.
        branch: The branch that the index was built on.
        machine: Gives what decides which one is marked as active.
    """
    if not sites:
        return ()
    asked, key = sites[0], group_key(sites[0])
    group = [site for site in sites if group_key(site) == key]
    if len({(site.file, site.line) for site in group}) < 2 or passed_over(asked):
        return ()
    group = [site for site in group if not passed_over(site)]
    for found in candidates(group, asked):
        if relations := relate(found):
            active = _active(found, machine())
            return tuple(
                DefinitionSite(site.file, site.line, branch, site.build_tag, relation, active=site is active)
                for site, relation in zip(found, relations, strict=True)
            )
    return ()


def candidates(group: Sequence[Site], asked: Site) -> list[list[Site]]:
    """The sets of sites to relate, the widest first; each ordered by file and line.

    Args:
        group: Sites with one group key, none of them passed over.
        asked: The one of them that has to be among them.
    """
    # One line may hold two definitions of one name: `typedef struct list {…} list;`.
    by_place = {_definition(site): site for site in sorted(group, key=lambda site: (site.file, -site.line))}
    everywhere = sorted(by_place.values(), key=lambda site: (site.file, site.line))
    here = [site for site in everywhere if site.file == asked.file]
    if asked.language == "rust":
        # The same path in a crate: several files may only define it if no build has two of them.
        return [everywhere, here] if _apart(everywhere) else [here]
    if asked.language not in _LINKED:
        return [everywhere]
    # Without a condition, two files of a repository that define one C function are two programs, or files that
    # the build system chooses from, which nothing in them shows.
    across = [site for site in everywhere if site.file == asked.file or _join(site, asked)]
    return [here] if len(across) == len(here) or not _apart(across) else [across, here]


def _definition(site: Site) -> tuple[object, ...]:
    """What sites of one symbol have in common if they are one definition."""
    if "external" in site.traits:
        # `mod a;` twice, for its visibility: the module is in a file, and that is one, unless an attribute names it.
        return site.file, *sorted(word for word in site.traits if word.startswith("path="))
    if site.language in _CLAUSES:
        return site.file, site.parent, site.build_tag
    return site.file, site.line


def passed_over(site: Site) -> bool:
    """Whether a site is left out: it can be no second definition of anything."""
    if site.kind not in GROUPS or site.name in _NO_NAMES or not _PARTS.isdisjoint(site.traits):
        return True
    if site.build_tag is not None and not _counts(site.build_tag, site.language):
        return True
    return site.language == "go" and site.name == "init" and site.kind == "function"  # a package may have any number


def relate(sites: Sequence[Site]) -> list[str]:
    """How each site relates to the others, one of RELATIONS; [] if they do not contradict each other.

    Args:
        sites: Of one symbol, by file and line.
    """
    found: list[set[str]] = [set() for _ in sites]
    known: dict[tuple[str | None, str | None, bool], str | None] = {}
    for (i, one), (j, other) in combinations(enumerate(sites), 2):
        # Many sites share their conditions: each pair of conditions is decided once.
        simple = one.language == "go"
        key = (one.build_tag, other.build_tag, one.file == other.file)
        relation = known[key] if simple and key in known else _pair(one, other)
        if simple:
            known[key] = relation
        if relation is None:
            return []
        found[i].add(relation)
        found[j].add(relation)
    graded = [next((relation for relation in RELATIONS if relation in relations), "") for relations in found]
    return graded if all(graded) else []


def _pair(one: Site, other: Site) -> str | None:
    """How two sites of one symbol relate, the earlier first; None if they cannot be definitions of the same thing."""
    language = one.language
    macros = (one.kind == "macro") + (other.kind == "macro")
    both = logic.together(one.build_tag, other.build_tag, language)
    by_path = one.path_tag != other.path_tag
    if _is_value(one) and language in _SEQUENTIAL and not by_path and not (_chosen(one) and _chosen(other)):
        return None
    if both is False:
        return "fallback" if _run_time(one.build_tag) != _run_time(other.build_tag) else "variant"
    if macros == 1:
        return None  # a macro beside a function wraps it
    if ("weak" in one.traits) != ("weak" in other.traits) or _guards(one) or _guards(other):
        return "fallback"
    if one.path_tag != other.path_tag and (language in _SUFFIXED or ">=" in f"{one.path_tag}{other.path_tag}"):
        return "variant"  # the file that says more takes the place of the one that says less
    if _is_value(one):
        return None  # an assignment under a condition mostly changes a variable that is there already
    if macros:
        # Where both hold, the later one counts, with or without an #undef between them.
        return "variant" if one.file == other.file and one.digest != other.digest else None
    if language in _SEQUENTIAL:
        return _sequence(one, other) if one.file == other.file else None
    return "overlap" if _clashes(one, other, both) else None


def _clashes(one: Site, other: Site, both: bool | None) -> bool:
    """Whether two definitions that can hold at once clash, rather than define two things that only look alike."""
    if one.build_tag == other.build_tag or both is None or one.name in _ENTRY_POINTS:
        return False  # no compiler takes two under one condition: what tells them apart is not seen
    if one.language == "go":
        return True
    if one.file != other.file:
        return False
    if one.language == "rust":
        return True
    return _parameters(one.name, one.signature, GROUPS[one.kind]) == _parameters(
        other.name, other.signature, GROUPS[other.kind]
    )


def _sequence(one: Site, other: Site) -> str | None:
    """How two sites relate in a language where a later definition replaces an earlier one."""
    language = one.language
    if language == "ruby" and GROUPS[one.kind] != "callable":
        return None  # reopened
    if one.build_tag == other.build_tag:
        return "duplicate" if _replaces(other, one) else None
    if logic.implies(other.build_tag, one.build_tag, language):
        return "variant"  # the later one counts where its condition holds, the earlier one elsewhere
    return "overlap"


def _replaces(site: Site, earlier: Site) -> bool:
    """Whether a definition replaces an earlier one that is then lost."""
    if site.language not in _LAST_WINS or site.parent != earlier.parent or site.broken:
        return False  # where a file does not parse, conditions may have been missed
    return not {"decorated", "weak"} & (site.traits | earlier.traits)


def _is_value(site: Site) -> bool:
    return GROUPS[site.kind] == "value"


@lru_cache(maxsize=4096)
def _run_time(tag: str | None) -> tuple[str, ...]:
    return tuple(part for part in (conjuncts(tag) if tag is not None else ()) if _RUN_TIME.match(part))


def _chosen(site: Site) -> bool:
    """Whether the platform decides a variable's value, and not what the program finds out while it runs."""
    if site.language == "bash" or site.build_tag is None:
        return False
    return site.kind == "constant" or bool(_ENVIRONMENT.search(site.build_tag)) or bool(_run_time(site.build_tag))


@lru_cache(maxsize=4096)
def _counts(tag: str, language: str) -> bool:
    """Whether a definition under a condition can stand beside other definitions."""
    if logic.never(tag, language) or (language == "rust" and "macro(" in tag):
        return False  # never built; or a macro decides that nobody knows
    # What only a type checker sees declares the definition beside it.
    return language != "python" or not any(_TYPES_ONLY.match(part) for part in conjuncts(tag))


def _guards(site: Site) -> bool:
    """Whether a definition is made only if there is no other: `#ifndef f`, `if (!function_exists('f'))`."""
    if site.build_tag is None or site.name not in site.build_tag:
        return False
    own = re.compile(rf"(?<![\w$]){re.escape(site.name)}(?![\w$])")
    return any(re.match(r"!|not\b", part) and own.search(part) for part in conjuncts(site.build_tag))


def _join(one: Site, other: Site) -> bool:
    """Whether two files are visibly made for one program: both have conditions, or one is weak."""
    weak = "weak" in one.traits or "weak" in other.traits
    return weak or (one.build_tag is not None and other.build_tag is not None)


def _apart(sites: Sequence[Site]) -> bool:
    """Whether sites of several files can be parts of one program: no two of two files can both be had."""
    return all(
        one.file == other.file
        or ("weak" in one.traits) != ("weak" in other.traits)
        or logic.together(one.build_tag, other.build_tag, one.language) is False
        for one, other in combinations(sites, 2)
    )


def _active(sites: Sequence[Site], machine: logic.Machine) -> Site | None:
    """The one site that counts on this machine; None if that cannot be told."""
    judged = [(site, logic.holds(site.build_tag, site.language, machine)) for site in sites]
    certain = [site for site, holds in judged if holds is True]
    if len(certain) != 1:
        if len({site.file for site in certain}) == 1 and sites[0].language in _SEQUENTIAL:
            # The last one wins, unless one after it might.
            last = certain[-1]
            return last if all(holds is False for site, holds in judged if site.line > last.line) else None
        return None
    others = [holds for site, holds in judged if site is not certain[0]]
    return certain[0] if all(holds is False for holds in others) else None


def _place(site: Site) -> str:
    """The scope of a name: a folder, a file, or "" where files are linked together."""
    if site.scope:
        return site.scope
    language = site.language
    if language == "go":
        return site.file.rpartition("/")[0] or "."
    if language == "csharp":
        return "" if site.qualified_name != site.name else site.file  # namespaces span files
    if language in _SUFFIXED:
        return platform_stem(language, site.file)
    if language in ("kotlin", "java", "scala"):
        return source_root(language, site.file)
    is_linked = language in _LINKED and site.kind in FUNCTION_KINDS - {"macro"} and site.name not in _ENTRY_POINTS
    is_shared = is_linked and not re.search(r"\b(?:static|inline)\b", site.signature.partition(site.name)[0])
    return "" if is_shared else site.file


@lru_cache(maxsize=4096)
def _parameters(name: str, signature: str, group: str) -> str:
    """What tells overloads apart: type parameters, the parameters' types, and what follows them."""
    head, _, rest = signature.partition(name)
    if head.rstrip().endswith("."):
        rest = f"{head.split()[-1]} {rest}"  # C#: `void IDisposable.Dispose()` is not `void Dispose()`
    template = re.search(r"\btemplate\s*<.*>", head)
    text = f"{template.group() if template else ''} {rest}"
    if group == "type":
        text = re.split(r"(?<!:):(?!:)|\bwhere\b|\bextends\b", text, maxsplit=1)[0]
    text = re.sub(r"\s*=[^,()]*", "", text)  # default values
    text = re.sub(r"([\w>\]*&?])\s+[*&]*\w+\s*(?=[,)])", r"\1", text)  # names of parameters after their types
    return re.sub(r"\s+", "", text)
