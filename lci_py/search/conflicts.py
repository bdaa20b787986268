"""Which definitions of one symbol contradict each other: the rule of docs/conflicts.md, as functions over rows.

Precision comes first. A definition that the rule cannot place is no conflict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from lci_py.source.conditions import conjuncts, negate
from lci_py.types import FUNCTION_KINDS, TYPE_KINDS, DefinitionSite

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Site:
    """One definition, as the index has it."""

    unit: int
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
    local: bool = False  # somewhere inside a function
    first_line: int = 0  # with comments, attributes and decorators above; 0 if not known
    decorators: str = ""  # the source lines from `first_line` up to `line`, as far as they are known


#: The kinds that can define one thing twice. A namespace is reopened; an enum's member is found through its enum.
_GROUPS = {
    **dict.fromkeys(FUNCTION_KINDS, "callable"),
    **dict.fromkeys(TYPE_KINDS | {"type"}, "type"),
    **dict.fromkeys(("constant", "variable", "field", "property"), "value"),
    "module": "module",
}
_OVERLOADING = frozenset({"cpp", "csharp", "java", "kotlin", "scala", "swift", "typescript", "tsx"})
# Languages whose linker or assembly joins files, so that files may define one symbol under different conditions.
_LINKED = frozenset({"c", "cpp", "csharp"})
_ENTRY_POINTS = frozenset({"main", "Main", "wmain", "WinMain", "wWinMain", "DllMain", "LLVMFuzzerTestOneInput"})
# Never built together with anything: `#if 0`, `if False:`, and Go's way to keep a script beside a package.
_DEAD = frozenset({"0", "False", "false", "ignore"})
_STUB = re.compile(r"@\s*(?:[\w.]+\.)?(?:overload|setter|getter|deleter|register)\b")
_TYPES_ONLY = re.compile(r"(?!.*\bor\b)(?!not\b)(?:.*\band )?(?:\w+\.)?TYPE_CHECKING\b(?!.*[=(])")
_RUN_TIME = re.compile(r"(?:try|try else|except\b.*)$")
#: At most one of each holds. Cygwin and Android count as two of them, so they are not listed.
_ALTERNATIVES = (
    frozenset({"unix", "windows"}),
    frozenset(f"defined({name})" for name in ("_WIN32", "__linux__", "__APPLE__", "__FreeBSD__", "__OpenBSD__")),
)
_TARGET = re.compile(r"target_(?:os|arch|env|family|pointer_width|vendor|endian) = ")


def group_key(site: Site) -> tuple[str, ...]:
    """What all definitions of one symbol share. The second element is the name to fetch the candidates by.

    Where files are linked together, the key leaves out the file and `definitions` narrows further.
    """
    group = _GROUPS.get(site.kind, "")
    overload = _parameters(site) if site.language in _OVERLOADING and group != "value" else ""
    return (site.language, site.qualified_name, group, "test" if site.is_test else "", _place(site), overload)


def definitions(sites: Sequence[Site], branch: str | None) -> tuple[DefinitionSite, ...]:
    """The defining sites of the first site's symbol if they are a conflict, ordered by file and line; else ().

    Args:
        sites: The one that is asked about, then any others of its qualified name; those of another symbol, scope or
            overload are passed over.
        branch: The branch that the index was built on.
    """
    if not sites or _passed_over(sites[0]):
        return ()
    asked, key = sites[0], group_key(sites[0])
    # One line may hold two definitions of one name: `typedef struct list {…} list;`.
    group = {(s.file, s.line): s for s in sites if group_key(s) == key and not _passed_over(s)}
    everywhere = [group[place] for place in sorted(group)]
    here = [site for site in everywhere if site.file == asked.file]
    if asked.language in _LINKED:
        # Without a condition, two files of a repository that define one C function are two programs, or files that
        # the build system chooses from, which nothing in them shows.
        tagged = asked.build_tag is not None
        everywhere = [site for site in everywhere if site.file == asked.file or (tagged and site.build_tag is not None)]
        if _repeats(everywhere):
            everywhere = here
    for found in (everywhere, here):
        if relation := _relation(found):
            return tuple(DefinitionSite(site.file, site.line, branch, site.build_tag, relation) for site in found)
    return ()


def exclusive(one: str | None, other: str | None) -> bool:
    """Whether the text of two conditions shows that they never hold together."""
    if one is None or other is None:
        return False
    mine, theirs = set(conjuncts(one)), set(conjuncts(other))
    for these, those in ((mine, theirs), (theirs, mine)):
        # `negate` takes off the `!` and the brackets: `a && b` stands against `!(a && b)` by both its parts.
        if any(part.startswith("!") and these.issuperset(conjuncts(negate(part))) for part in those):
            return True
    for alternatives in _ALTERNATIVES:
        if mine & alternatives and theirs & alternatives and not mine & theirs & alternatives:
            return True
    values = [dict(c.split(" = ", 1) for c in side if _TARGET.match(c)) for side in (mine, theirs)]
    return any(name in values[1] and values[1][name] != value for name, value in values[0].items())


def _place(site: Site) -> str:
    """What the scope of a name ends with: a folder, a file, or nothing where files are linked together."""
    if site.language == "go":
        return site.file.rpartition("/")[0] or "."
    if site.language == "csharp":
        return "" if site.qualified_name != site.name else site.file  # namespaces span files
    is_linked = site.language in _LINKED and site.kind in FUNCTION_KINDS - {"macro"} and site.name not in _ENTRY_POINTS
    is_shared = is_linked and not re.search(r"\b(?:static|inline)\b", site.signature.partition(site.name)[0])
    return "" if is_shared else site.file


def _passed_over(site: Site) -> bool:
    """Whether a site can define nothing twice."""
    if site.kind not in _GROUPS or site.local or site.name == "_":
        return True
    parts = conjuncts(site.build_tag) if site.build_tag is not None else []
    if not _DEAD.isdisjoint(parts):
        return True
    if site.language == "python":
        # What only a type checker sees declares the definition beside it.
        return bool(_STUB.search(site.decorators)) or any(_TYPES_ONLY.match(part) for part in parts)
    if site.language == "go":
        return site.name == "init" and site.kind == "function"  # a package may have any number
    return site.language == "csharp" and re.search(r"\bpartial\b", site.signature) is not None


def _repeats(sites: Sequence[Site]) -> bool:
    """Whether two files have a definition under the same condition: then they belong to different programs."""
    conditions = [condition for _, condition in {(site.file, site.build_tag) for site in sites}]
    return len(set(conditions)) < len(conditions)


def _relation(sites: Sequence[Site]) -> str:
    """How the definitions of one symbol and scope relate; "" if they do not contradict each other."""
    conditions = {site.build_tag for site in sites}
    if len(sites) < 2:
        return ""
    if conditions == {None}:
        return "duplicate" if all(_is_plain(site) for site in sites) else ""
    if len(conditions) == 1 or not all(_compatible(one, other) for one, other in combinations(sites, 2)):
        return ""
    parts = (part for condition in conditions if condition is not None for part in conjuncts(condition))
    return "fallback" if any(_RUN_TIME.match(part) for part in parts) else "variant"


def _is_plain(site: Site) -> bool:
    """Whether a second definition of this one can only be a mistake: the last one wins."""
    return site.language == "python" and _GROUPS[site.kind] != "value" and site.first_line == site.line


def _compatible(one: Site, other: Site) -> bool:
    """Whether two sites with conditions that differ, or with the same one, can be definitions of the same thing."""
    if exclusive(one.build_tag, other.build_tag):
        return True
    if one.language == "rust":
        # Two traits may give a type methods of one name, and the rows do not say which trait a method is from.
        return "method" not in (one.kind, other.kind)
    if "macro" in (one.kind, other.kind):
        return one.kind == other.kind  # a macro beside a function wraps it
    values = _GROUPS[one.kind] == "value"
    if one.language in _LINKED:
        return not values and _parameters(one) == _parameters(other)
    # An assignment under a Python `if` mostly changes a variable that is there already.
    return not (values and one.language == "python" and None in (one.build_tag, other.build_tag))


def _parameters(site: Site) -> str:
    """What tells overloads apart: type parameters, the parameters' types, and what follows them."""
    head, _, rest = site.signature.partition(site.name)
    if head.rstrip().endswith("."):
        rest = f"{head.split()[-1]} {rest}"  # C#: `void IDisposable.Dispose()` is not `void Dispose()`
    template = re.search(r"\btemplate\s*<.*>", head)
    text = f"{template.group() if template else ''} {rest}"
    if _GROUPS.get(site.kind) == "type":
        text = re.split(r":(?!:)|\bwhere\b|\bextends\b", text, maxsplit=1)[0]
    text = re.sub(r"\s*=[^,()]*", "", text)  # default values
    text = re.sub(r"([\w>\]*&?])\s+[*&]*\w+\s*(?=[,)])", r"\1", text)  # names of parameters after their types
    return re.sub(r"\s+", "", text)
