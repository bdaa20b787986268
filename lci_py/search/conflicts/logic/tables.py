"""Reads the words of conditions and the facts about them from grammars/conditions.toml, which documents itself."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from lci_py.search.conflicts.logic.solve import Formula, Literal, Or, both, opposite
from lci_py.search.conflicts.logic.values import words
from lci_py.source.text.language_tables import pairs, shared_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Table(NamedTuple):
    """One section of grammars/conditions.toml."""

    kinds: Mapping[str, Mapping[str, int]]  # by variable, a bit for each of its values
    sets: Mapping[str, list[str]]
    words: Mapping[str, Formula]
    facts: tuple[Formula, ...]
    usual: tuple[Formula, ...]

    def literal(self, kind: str, names: str, *, negated: bool = False) -> Literal:
        """The literal that a variable has one of the named values or, if negated, none of them.

        Args:
            kind: An enumeration of the table or, if the table has none of this name, the name of a variable.
            names: Values and sets of values, separated by blanks.
            negated: Whether the variable has none of the values. That is always possible, since the bits above those of
                the enumeration stand for values that are not listed.
        """
        members = set(self._values(names.split()))
        bits = self.kinds.get(f" @{kind}")
        allowed = sum(bits[value] for value in members) if bits is not None else words(*members)
        variable = f" @{kind}" if bits is not None else f" {kind}" if kind[:1] == "@" else kind
        return Literal(variable, ~allowed if negated else allowed)

    def _values(self, names: list[str]) -> Iterator[str]:
        for name in names:
            yield from self._values(self.sets[name]) if name in self.sets else [name]

    def formula(self, text: str) -> Formula:
        """Parse a formula of grammars/conditions.toml."""
        parts = []
        for part in text.split(" & "):
            kind, _, names = part.partition(" ")
            is_flag = part[0] == "+"
            negated = part[0] == "!"
            parts.append(
                Literal(f"  {part[1:]}", 1) if is_flag else self.literal(kind.lstrip("!"), names, negated=negated)
            )
        return both(*parts)

    def implications(self, text: str) -> tuple[Formula, ...]:
        """Parse implications (`condition > consequence`), one per line."""
        return tuple(
            Or((opposite(self.formula(when)), self.formula(then)), 2) if when else self.formula(then)
            for when, then in pairs(text, "> ")
        )


@cache
def table(name: str) -> Table:
    """The section `name` of grammars/conditions.toml."""
    section = shared_table("conditions")[name]
    base = table(section["of"]) if "of" in section else Table({}, {}, {}, (), ())
    own = {
        f" @{kind}": {value: 1 << bit for bit, value in enumerate(values.split())}
        for kind, values in pairs(section.get("kinds", ""))
    }
    sets = {each: values.split() for names, values in pairs(section.get("sets", "")) for each in names.split()}
    result = Table({**base.kinds, **own}, {**base.sets, **sets}, {}, (), ())
    words: dict[str, Formula] = {value: Literal(kind, bit) for kind, bits in own.items() for value, bit in bits.items()}
    for each in sets:
        first = next(result._values([each]))
        kind = next((kind for kind, bits in own.items() if first in bits), "")
        if kind:
            words[each] = result.literal(kind[2:], each)
    for names, text in pairs(section.get("words", "")):
        words |= dict.fromkeys(names.split(), result.formula(text))
    facts, usual = (result.implications(section.get(key, "")) for key in ("facts", "usual"))
    return result._replace(words=words, facts=facts, usual=usual)
