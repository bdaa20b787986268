"""Decides which definitions of one symbol contradict each other, by the rule of docs/conflicts.md.

A definition to which the rule cannot be applied with certainty is not reported as a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.search.conflicts.rules import Rules, rules_of
from lci_py.source.conditions import conjuncts, join
from lci_py.source.conditions.paths import shared_path, source_root
from lci_py.source.text.patterns import lazily
from lci_py.types.search import FUNCTION_KINDS, RELATIONS, TYPE_KINDS, DefinitionSite

if TYPE_CHECKING:
    from lci_py.search.conflicts import logic
else:

    class _Logic:
        """Imports `search.conflicts.logic` only when conditions are compared: most results have one definition."""

        def __getattr__(self, name: str) -> Any:
            from lci_py.search.conflicts import logic as found

            setattr(self, name, getattr(found, name))
            return getattr(found, name)

    logic = _Logic()


class Site(NamedTuple):
    """One definition of a symbol, with what the index knows about it."""

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
    scope: str = ""  # replaces the file where variants of one scope lie in several files
    inferred: str | None = None  # the platform that its path suggests, or the build files

    @property
    def rules(self) -> Rules:
        """The conflict rules of the site's language."""
        return rules_of(self.language)

    @property
    def group(self) -> str:
        """The group of the site's kind: callable, type, value or module; "" for a kind that may be repeated."""
        return GROUPS.get(self.kind, "")

    @property
    def placed(self) -> str | None:
        """The definition's build condition, joined with the condition that its path suggests; None without either."""
        if self.inferred is None:
            return self.build_tag
        return join([self.build_tag or "", _WORD.sub(r"path(\g<0>)", self.inferred)])


#: The kinds that can define one thing twice. A namespace is reopened; an enum's member is found through its enum.
GROUPS = {
    **dict.fromkeys(FUNCTION_KINDS, "callable"),
    **dict.fromkeys(TYPE_KINDS | {"type"}, "type"),
    **dict.fromkeys(("constant", "variable", "field", "property"), "value"),
    "module": "module",
}
#: What asks whether C is compiled as C++.
_AS_CPP = lazily(r"cplusplus|CPP|CXX")
_ENTRY_POINTS = frozenset({"main", "Main", "wmain", "WinMain", "wWinMain", "DllMain", "LLVMFuzzerTestOneInput"})
#: Parts of a condition that are evaluated at run time.
_RUN_TIME = lazily(r"(?:try|try else|except\b.*|begin|begin else|rescue\b.*|catch\b.*)$", re.DOTALL)
_RESCUED = lazily(r"(?:except|rescue|catch)\b")
#: Words in conditions on the environment of a program.
_ENVIRONMENT = lazily(
    r"platform|version|os\.name|\bPY[23]\b|process\.|import\.meta|__DEV__|typeof |RUBY_|PHP_|Mix\.|jit\b|flag\(",
    re.IGNORECASE,
)
_WORD = lazily(r"[A-Za-z_]\w*")
_TYPES_ONLY = lazily(r"(?!.*\bor\b)(?!not\b)(?:.*\band )?(?:\w+\.)?TYPE_CHECKING\b(?!.*[=(])")
#: Folders of test material, whose sources are broken or repeat a definition on purpose.
_MATERIAL = lazily(
    r"(?:^|/)(?:_[^/]*|testdata|test[-_]data|__?fixtures?_?_?|fixtures?|snapshots|(?:compile|build)[-_]fail|ui"
    r"|\w*tests?\w*/(?:[^/]+/)*(?:inputs?|expected|golden|cases|data))/"
)
_MACRO_LIKE = lazily(r"_*[A-Z][A-Z\d_]+")
_COMMENT = lazily(r"/\*.*?\*/", re.DOTALL)
#: What follows the parameters of a function: its body, or what a constructor initialises.
_BODY = lazily(r"(?<=\))\s*(?:\{|:(?!:)\s*[\w:<>, ]+[({])")
_ANGLED = lazily(r"<.*>")
#: The interface that a member of C# belongs to alone.
_INTERFACE = lazily(r"[\w.]+(?:<[^()]*>)?\.\s*$")
_FILE_PRIVATE = lazily(r"\b(?:private|fileprivate|file)\b")
#: Words that name nothing: a placeholder, and remains of JavaScript that does not parse.
_NO_NAMES = frozenset({"_", "if", "for", "while", "switch", "catch"})
#: Traits of rows that do not count as definitions: the signatures of an overload and a property's setter are parts of
#: one.
_PARTS = frozenset({"accessor", "overload", "declaration", "partial", "expect", "local"})


def group_key(site: Site) -> tuple[str, ...]:
    """The key that all definitions of one symbol share.

    In languages whose files are linked together, the key leaves out the file; `definitions` narrows the sites further.
    """
    rules, group = site.rules, site.group
    if rules.one_space:
        group = "member" if site.kind in ("method", "field") else "name"
    elif rules.classes_called and site.kind == "class":
        group = "callable"
    overload = str(site.arity) if rules.by_arity else ""
    if rules.overloads and group != "value" and site.kind != "macro":
        overload = _parameters(site.name, site.signature, group, site.language)
    tells_static = not rules.static_clashes or group != "callable" or site.kind == "constructor"
    owner = " ".join(
        sorted(word for word in site.traits if (word == "static" and tells_static) or word.startswith("impl:"))
    )
    if ".prototype." in site.signature.partition(site.name)[0]:
        owner += " prototype"  # of the objects of a class, as its other definition is not
    return (
        site.language, site.qualified_name, group, "test" if site.is_test else "", _scope_key(site), overload, owner
    )  # fmt: skip


def definitions(
    sites: Sequence[Site], branch: str | None, machine: Callable[[], logic.Machine]
) -> tuple[DefinitionSite, ...]:
    """The contradicting definitions of the first site's symbol, by file and line; () if nothing contradicts that site.

    Args:
        sites: The site asked about, then all other sites of its qualified name. Sites of another symbol, scope or
            overload are ignored.
        branch: The branch that the index was built on.
        machine: Returns the machine that decides which site is active.
    """
    if not sites:
        return ()
    first, key = sites[0], group_key(sites[0])
    group = [site for site in sites if group_key(site) == key]
    if len({(site.file, site.line) for site in group}) < 2 or passed_over(first):
        return ()
    group = [site for site in group if not passed_over(site)]
    for rivals in candidates(group, first):
        relations = relate(rivals)
        related = [(site, label) for site, label in zip(rivals, relations, strict=True) if label]
        if any(site.file == first.file and site.line == first.line for site, _ in related):
            active, told = _active(rivals, machine()), _told_by_path([site for site, _ in related])
            return tuple(
                DefinitionSite(
                    site.file,
                    site.line,
                    branch,
                    site.build_tag,
                    relation,
                    site is active,
                    site.inferred if told else None,
                )
                for site, relation in related
            )
    return ()


def candidates(group: Sequence[Site], anchor: Site) -> list[list[Site]]:
    """The sets of sites to compare with each other, the widest set first; each set is ordered by file and line.

    Args:
        group: Sites with one group key, without those that `passed_over` excludes.
        anchor: The site that must be in each set.
    """
    # One line may hold two definitions of one name: `typedef struct list {…} list;`.
    by_place = {_definition(site): site for site in sorted(group, key=lambda site: (site.file, -site.line))}
    everywhere = sorted(by_place.values(), key=lambda site: (site.file, site.line))
    here = [site for site in everywhere if site.file == anchor.file]
    if not anchor.rules.linked:
        return [everywhere]
    # Without a condition, two files of a repository that define the same C function belong to different programs, or
    # the build system chooses between them. So each set has this file and those that no program contains beside it or
    # beside each other.
    files: dict[str, list[Site]] = {anchor.file: here}
    for site in everywhere:
        if site.file != anchor.file:
            files.setdefault(site.file, []).append(site)
    across: list[Site] = []
    for sites in files.values():
        if all(_apart(member, other) for member in across for other in sites):
            across += sites
    across.sort(key=lambda site: (site.file, site.line))
    beside = [site for site in everywhere if site.file.rpartition("/")[0] == anchor.file.rpartition("/")[0]]
    inner = [beside, here] if anchor.rules.linked == "namespaces" else [here]
    return inner if len(across) == len(here) else [across, *inner]


def _definition(site: Site) -> tuple[object, ...]:
    """A key that two sites share if they are parts of the same definition, such as clauses of one function."""
    if "external" in site.traits:
        # `mod a;` twice, with different visibility: both mean the module's one file, unless an attribute names another.
        return site.file, *sorted(word for word in site.traits if word.startswith("path="))
    if site.rules.clauses and site.group == "callable":
        return site.file, site.parent, site.build_tag, _clause_word(site)
    return site.file, site.line


def passed_over(site: Site) -> bool:
    """Whether a site is ignored, because it cannot be a second definition of anything."""
    if site.kind not in GROUPS or site.name in _NO_NAMES or not _PARTS.isdisjoint(site.traits):
        return True
    if site.build_tag is not None and not _counts(site.build_tag or "", site.language):
        return True
    return _matches(site.rules.exempt, site)


def relate(sites: Sequence[Site]) -> list[str]:
    """The relation of each site to the other sites: one of RELATIONS, or "" if it contradicts none of them.

    Args:
        sites: The definitions of one symbol, by file and line.
    """
    if all(not (site.build_tag or site.inferred) and _is_assigned(site) for site in sites):
        return [""] * len(sites)  # a variable, and what is assigned to it
    relations_of: list[set[str]] = [set() for _ in sites]
    cache: dict[tuple[object, ...], str | None] = {}
    for (i, a), (j, b) in combinations(enumerate(sites), 2):
        # Many sites share their conditions: each pair of conditions is decided once.
        simple = a.rules.one_space
        key = (a.build_tag, b.build_tag, a.file == b.file, a.broken or b.broken, a.kind, b.kind)
        relation = cache[key] if simple and key in cache else _pair(a, b)
        if simple:
            cache[key] = relation
        if relation is not None:
            relations_of[i].add(relation)
            relations_of[j].add(relation)
    return [next((name for name in RELATIONS if name in relations), "") for relations in relations_of]


def _pair(site: Site, other: Site) -> str | None:
    """The relation of two sites, the earlier site first; None if they do not contradict each other, or if undecided."""
    language, rules = site.language, site.rules
    macro_kinds = (site.kind == "macro") + (other.kind == "macro")
    both = logic.together(site.build_tag, other.build_tag, language)
    by_path = site.path_tag != other.path_tag
    assigned = _is_assigned(site) and _is_assigned(other)
    if assigned and rules.second == "replaces" and not (by_path or (_chosen(site) and _chosen(other))):
        return "variant" if site.kind == other.kind == "constant" and _placed_apart(site, other) else None
    if both is not False and macro_kinds != 1 and _placed_apart(site, other):
        return "variant"
    if both is False:
        return "fallback" if _run_time(site.build_tag) != _run_time(other.build_tag) else "variant"
    if macro_kinds == 1:
        return None  # a macro beside a function wraps it
    if ("weak" in site.traits) != ("weak" in other.traits) or _guards(site) or _guards(other):
        return "fallback"
    if by_path and (rules.second == "replaces" or ">=" in f"{site.path_tag}{other.path_tag}"):
        return "variant"  # the file that says more takes the place of the one that says less
    if assigned:
        return None  # an assignment under a condition mostly changes a variable that is there already
    if macro_kinds:
        if site.file != other.file or site.digest == other.digest:
            return None
        # If both conditions hold, the later one counts; a compiler warns unless an #undef or a condition separates
        # them.
        warns = (
            rules.c_macros and site.build_tag == other.build_tag and "kept" not in site.traits and not _deliberate(site)
        )
        texts = _macro_words(site), _macro_words(other)
        warns = warns and texts[0] != texts[1] and all(texts)
        return "duplicate" if warns else "variant"
    if both is None:
        return None
    if site.build_tag == other.build_tag:
        return "duplicate" if _twice(site, other) else None
    if rules.second == "replaces":
        return _sequence(site, other) if site.file == other.file else None
    if not _one_program(site, other):
        return None
    return _overlap_unless(logic.alternatives(site.build_tag, other.build_tag, language))


def _overlap_unless(saved: bool | None) -> str | None:
    return {True: "variant", False: "overlap", None: None}[saved]


def _one_program(site: Site, other: Site) -> bool:
    """Whether a compiler that sees both definitions would reject them: they are not just two things with one name."""
    if site.name in _ENTRY_POINTS or _deliberate(site) or _deliberate(other) or _doubtful(site, other):
        return False
    rules = site.rules
    if "any" in rules.folder:
        return True
    if rules.c_macros and (
        site.digest == other.digest if site.kind == other.kind == "type" else "type" in site.kind + other.kind
    ):
        return False  # the same `typedef` twice is one, and so are `union X {…};` and `typedef union X X;`
    if site.file != other.file or site.kind == "module" or _in_macro(site):
        return False
    return rules.by_name or _parameters_of(site) == _parameters_of(other)


def _sequence(site: Site, other: Site) -> str | None:
    """The relation of two sites of a file in a language where a later definition replaces an earlier definition."""
    language, rules = site.language, site.rules
    if site.group in rules.reopened or rules.clauses:
        return None  # added to, or further clauses of one function
    narrower = logic.implies(other.build_tag, site.build_tag, language)
    if narrower:
        # The later one counts where its condition holds, the earlier one elsewhere.
        return "fallback" if _run_time(site.build_tag) != _run_time(other.build_tag) else "variant"
    if narrower is None or "kept" in site.traits or _deliberate(site) or site.broken:
        return None
    if "decorated" in site.traits | other.traits:
        return None
    return _overlap_unless(logic.alternatives(site.build_tag, other.build_tag, language))


def _twice(first: Site, other: Site) -> bool:
    """Whether two definitions under one condition are an error: a compiler rejects them, or the first one is lost."""
    rules, group = first.rules, first.group
    traits = first.traits | other.traits
    if _doubtful(first, other) or _deliberate(first) or _deliberate(other) or first.name in _ENTRY_POINTS:
        return False
    if first.file != other.file and not _one_folder(first, other):
        return False
    if group in rules.reopened or any(_matches(rules.repeatable, site) for site in (first, other)):
        return False
    if rules.second == "replaces" and not rules.clauses:
        if group == "value" and first.kind != other.kind:
            return False
        return first.parent == other.parent and not {"decorated", "weak", "kept"} & traits
    if rules.clause_words:
        if first.kind == "module":
            return first.signature == other.signature and first.signature.startswith("defmodule")
        words = {_clause_word(first), _clause_word(other)}
        return first.parent == other.parent and len(words - {""}) == 2
    made_by_macro = "macro(" in f"{first.build_tag}" or (rules.modules and "decorated" in traits)
    if first.kind == "module" or "weak" in traits or made_by_macro:
        return False
    if rules.clauses and (group != "type" or "instance" in first.signature + other.signature):
        return False
    if "any" in rules.folder:
        return True
    if group == "value":
        return first.kind == other.kind and first.parent == other.parent and _once(first) and _once(other)
    if rules.by_name or rules.overloads:
        in_one = first.parent == other.parent or rules.open_types
        return in_one and first.kind == other.kind and _overload(first) == _overload(other) and not _in_macro(first)
    if rules.second != "rejected" or first.parent != other.parent:
        return False
    if group == "type":
        return first.kind == other.kind != "type"
    # In C, what has no type before its name is the use of a macro.
    typed = all(site.signature.partition(site.name)[0].split()[-1:] not in ([], ["static"]) for site in (first, other))
    overloads = bool(_AS_CPP.search(first.build_tag or "")) and _parameters_of(first) != _parameters_of(other)
    return group == "callable" and typed and not overloads and not (_in_macro(first) or _in_macro(other))


def _doubtful(site: Site, other: Site) -> bool:
    """Whether the conditions, scopes or names of two sites may be wrong because a file does not parse."""
    sure = site.rules.sure
    return (site.broken or other.broken) and (sure is None or not sure.match(f"{site.kind} {site.file}"))


def _matches(pattern: re.Pattern[str] | None, site: Site) -> bool:
    """Whether a pattern of the rules matches a site's kind, name and signature."""
    return pattern is not None and bool(pattern.search(f"{site.kind} {site.name}\n{site.signature}"))


def _macro_words(site: Site) -> list[str]:
    """The words of a macro without comments, as a compiler compares them; [] if the macro has more than one line."""
    return [] if site.signature.endswith("\\") else _COMMENT.sub(" ", site.signature).split()


def _is_assigned(site: Site) -> bool:
    return site.group == "value" and site.rules.assigns and not _once(site)


def _once(site: Site) -> bool:
    """Whether a constant or variable is declared (only once is allowed) rather than assigned. False for definitions
    that merely share a name: indexers, members of another interface or of an unnamed type, properties of another
    type."""
    rules = site.rules
    if not rules.declared_once or ((rules.declared_inside or site.kind == "field") and site.parent < 0):
        return False
    if rules.typed_values and not site.signature.partition(site.name)[2].lstrip().startswith(":"):
        return False  # among the tokens of a macro, which may put it into a function
    *head, _ = re.split(rf"\b{re.escape(site.name)}\b", site.signature.partition("=")[0])
    return bool(head) and not head[-1].endswith(".") and site.name != "this"


def _clause_word(site: Site) -> str:
    """The keyword (`def` or `defp`) with which a clause of an Elixir function begins; "" in other languages."""
    word = site.signature.partition(" ")[0]
    return word if word in site.rules.clause_words else ""


def _overload(site: Site) -> str:
    """A key that tells overloads with the same parameters apart; the location, if the signature was cut."""
    if site.signature.endswith("…"):
        return f"{site.file}:{site.line}"
    head = site.signature.partition(site.name)[0]
    if head.endswith("."):
        return head.split()[-1]  # an extension of another type, `List<T>?.`, or of the member's own
    rules = site.rules
    if rules.specialised and site.group == "type":
        return site.signature  # with the arguments of a specialisation
    if rules.overload_by == "head":
        return head
    return (
        rules.overload_by if rules.overload_by and rules.overload_by in head.split() else "".join(_ANGLED.findall(head))
    )


def _in_macro(site: Site) -> bool:
    """Whether the definition looks like a macro use that was parsed as a definition, or is generated by a macro."""
    if not site.rules.c_macros:
        return False
    head, _, rest = site.signature.partition(site.name)
    is_open = head.count("(") > head.count(")")  # `TEST(name) {`: the macro makes another name of it
    marks = site.group == "callable" and rest.lstrip()[:1].isidentifier()  # `static int internal_function f(void)`
    return is_open or marks or site.name not in site.signature or bool(_MACRO_LIKE.fullmatch(site.name))


def _one_folder(first: Site, other: Site) -> bool:
    """Whether two files lie in one folder and belong to one program, in which a name can be defined only once."""
    rules = first.rules
    if rules.project is not None:
        return first.kind == "module"
    if not rules.folder or first.file.rpartition("/")[0] != other.file.rpartition("/")[0]:
        return False
    if "any" in rules.folder:
        return True
    private = _FILE_PRIVATE.search(first.signature) or _FILE_PRIVATE.search(other.signature)
    is_type = first.kind in TYPE_KINDS
    if rules.file_parts:  # a project may choose between A.Windows.cs and A.Unix.cs
        return is_type and not private and not any("." in site.file.rpartition("/")[2][:-3] for site in (first, other))
    shared = is_type or (first.kind in rules.folder and first.file[-4:] != ".kts")
    return first.parent < 0 and other.parent < 0 and shared and not private


def _deliberate(site: Site) -> bool:
    """Whether a second definition is probably intended: test material, a test double, or an import that only checks
    whether a module exists.

    A second test of the same name is not intended, since the first test then never runs.
    """
    if _MATERIAL.search(site.file) or site.signature == "import":
        return True
    if site.is_test and site.rules.c_macros:
        return True  # what a macro such as TEST_CASE makes a scope of, may look like none
    if not site.is_test or site.rules.second != "replaces":
        return False
    return not (site.name.lower().startswith("test") and "test" in site.file.rpartition("/")[2])


@lru_cache(maxsize=4096)
def _run_time(tag: str | None) -> tuple[str, ...]:
    return tuple(part for part in (conjuncts(tag) if tag is not None else ()) if _RUN_TIME.match(part))


def _chosen(site: Site) -> bool:
    """Whether the condition of a variable's definition tests the platform, rather than a value computed at run time."""
    if site.rules.run_time or site.build_tag is None:
        return False
    return site.kind == "constant" or bool(_ENVIRONMENT.search(site.build_tag or "")) or bool(_run_time(site.build_tag))


@lru_cache(maxsize=4096)
def _counts(tag: str, language: str) -> bool:
    """Whether a definition with this condition counts: not if it is never built, or only a type checker sees it."""
    if logic.never(tag, language) or (rules_of(language).modules and "macro(" in tag):
        return False  # never built; or a macro decides that nobody knows
    # What only a type checker sees declares the definition beside it.
    return not any(_TYPES_ONLY.match(part) for part in conjuncts(tag))


def _guards(site: Site) -> bool:
    """Whether a definition only takes effect if its name, or its enclosing type, is not defined yet: `#ifndef f`,
    `unless defined?(C)`.
    """
    enclosing = site.qualified_name.split(".")[-2:-1]
    names = [re.escape(name) for name in (site.name, *enclosing) if site.build_tag and name and name in site.build_tag]
    if site.build_tag is None or not names:
        return False
    own = re.compile(rf"(?<![\w$])(?:{'|'.join(names)})(?![\w$:.])")
    return any(re.match(r"!|not\b", part) and own.search(part) for part in conjuncts(site.build_tag))


def _apart(site: Site, other: Site) -> bool:
    """Whether two sites can coexist: no program has both, or one is a weak symbol, which the other site overrides."""
    weak = ("weak" in site.traits) != ("weak" in other.traits)
    return weak or logic.together(site.build_tag, other.build_tag, site.language) is False or _placed_apart(site, other)


def _placed_apart(site: Site, other: Site) -> bool:
    """Whether the paths of two files suggest that no build has both files; the relation is then `variant` at most."""
    if site.inferred == other.inferred:
        return False
    if site.kind == "module" or site.group in site.rules.reopened:
        return False  # reopened in any number of files
    if site.kind == "macro" and site.digest == other.digest:
        return False  # what all platforms have, as include guards
    return logic.together(site.placed, other.placed, site.language) is False


def _told_by_path(sites: Sequence[Site]) -> bool:
    """Whether two of the definitions belong to different builds by their paths, but not by their conditions."""
    return any(
        _placed_apart(site, other) and logic.together(site.build_tag, other.build_tag, site.language) is not False
        for site, other in combinations(sites, 2)
    )


def _active(sites: Sequence[Site], machine: logic.Machine) -> Site | None:
    """The site that is used on this machine; None if that cannot be decided."""
    if any(_RESCUED.match(part) for site in sites for part in _run_time(site.build_tag)):
        return None  # what a `try` comes to is not known before it runs
    judged = [(site, logic.holds(site.placed, site.language, machine)) for site in sites]
    certain = [site for site, holds in judged if holds is True]
    if len(certain) != 1:
        if len({site.file for site in certain}) == 1 and sites[0].rules.last_wins:
            # The last one wins, unless one after it might.
            last = certain[-1]
            return last if all(holds is False for site, holds in judged if site.line > last.line) else None
        return None
    others = [holds for site, holds in judged if site is not certain[0]]
    return certain[0] if all(holds is False for holds in others) else None


def _scope_key(site: Site) -> str:
    """The scope of a site's name: a folder, a file, or "" in a language whose files are linked together."""
    if site.scope:
        return site.scope
    language, rules = site.language, site.rules
    if rules.scope == "folder":
        return site.file.rpartition("/")[0] or "."
    if rules.scope == "source_set":
        return source_root(language, site.file)
    if rules.project is not None and site.kind == "module" and (compiled := rules.project.match(site.file)):
        return compiled[0]
    if rules.linked == "namespaces" and site.qualified_name != site.name:
        return ""  # they span files
    words = site.signature.partition(site.name)[0].split() if rules.linked == "functions" else ()
    is_linked = site.kind in FUNCTION_KINDS - {"macro"} and site.name not in _ENTRY_POINTS
    if words and is_linked and not {"static", "inline"} & set(words):
        return ""
    shared = shared_path(language, site.file)
    # Local definitions in files of two modules are unrelated: `kqueue/native_kqueue.c`, `epoll/native_epoll.c`.
    is_apart = "static" in words and sum("*" in part for part in shared.split("/")) > 1
    return site.file if is_apart else shared


def _parameters_of(site: Site) -> str:
    return _parameters(site.name, site.signature, site.group, site.language)


@lru_cache(maxsize=4096)
def _parameters(name: str, signature: str, group: str, language: str) -> str:
    """A key that tells overloads apart: type parameters, parameter types, and the rest of the signature."""
    # In a signature on one line the end of a `//` comment cannot be found.
    head, _, rest = _COMMENT.sub(" ", signature).partition(name)
    rules = rules_of(language)
    if group == "type" and rules.types_by_name:
        return ""
    rest = _BODY.split(rest, maxsplit=1)[0]
    if rules.not_types is not None:
        rest = rules.not_types.sub("", rest)
    if of := _INTERFACE.search(head):
        rest = f"{of[0]} {rest}"  # C#: `void IDisposable.Dispose()` is not `void Dispose()`
    template = re.search(r"\btemplate\s*<.*>", head)
    text = f"{template.group() if template else ''} {rest}"
    if group == "type":
        text = re.split(r"(?<!:):(?!:)|\bwhere\b|\bextends\b", text, maxsplit=1)[0]
    text = re.sub(r"\s*(?<![=!<>])=(?![=>])[^,()]*", "", text)  # default values
    if not rules.names_first and group != "type":
        text = re.sub(r"([\w>\]*&?])\s+([*&]*)\w+\s*(?=[,)])", r"\1\2", text)  # names of parameters after their types
    return re.sub(r"\s+", "", text)
