"""Derives from a regular expression (RE2's syntax) the texts that every matching line must contain.

The texts form clauses: a matching line contains at least one text of each clause. Syntax that is not understood yields
no clause; then more files are searched, but no match is lost.
"""

from __future__ import annotations

import re

from lci_py.types.record import NamedTuple

#: What \w, \d and \s mean in Unicode, inside brackets: RE2's own are those of ASCII.
WORD_CLASS = r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}"
_CLASSES = {
    "w": WORD_CLASS,
    "d": r"\p{Nd}",
    "s": r"\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}",
}
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_REPEAT = re.compile(r"[*+?]|\{(\d+)(?:,\d*)?\}")
_GROUP = re.compile(r"\?(?:P?<\w+>|([a-zA-Z]*)(?:-[a-zA-Z]*)?([:)]))")
_HEX = re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_PROPERTY = re.compile(r"[pP](?:\{[^}]*\}|.)")
_OCTAL = re.compile(r"[0-7]{1,3}")
_POSIX_CLASS = re.compile(r"\[:\^?\w+:\]")
#: Groups in groups; deeper ones are left to RE2.
_DEEPEST = 200

#: Texts, one of which is there.
Clause = tuple[str, ...]


class RequiredTexts(NamedTuple):
    """The texts that matches of a regular expression must contain, and properties of the expression."""

    clauses: tuple[Clause, ...]  # of each, one text occurs in every match, perhaps in other cases of its letters
    literal: str | None  # the text that is all the expression says
    folds: bool  # it ignores case, at least in a part
    capitals: bool  # it has a capital letter
    pattern: str  # with \w, \d and \s as Unicode has them


class _Unknown(Exception):
    """Raised for a regular expression whose syntax is not understood here."""


class _Piece(NamedTuple):
    """A part of the expression: its clauses, and its text if it matches nothing but that text."""

    clauses: tuple[Clause, ...]
    literal: str | None


def required_texts(pattern: str) -> RequiredTexts:
    """The texts that a valid regular expression requires; none if its syntax is not understood."""
    reader = _Reader(pattern)
    try:
        whole = reader.alternatives(0)
        if reader.at < len(pattern):
            raise _Unknown
    except (_Unknown, IndexError):
        capitals = any(char.isupper() for char in re.sub(r"\\[pP]\{\w*\}|\\.", "", pattern))
        return RequiredTexts((), None, True, capitals, pattern)
    folds = reader.folds
    return RequiredTexts(whole.clauses, None if folds else whole.literal, folds, reader.capitals, "".join(reader.out))


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.out: list[str] = []
        self.folds = False
        self.capitals = False

    def alternatives(self, depth: int) -> _Piece:
        """Parse `a|b|c`, up to the end or the closing bracket."""
        if depth > _DEEPEST:
            raise _Unknown
        branches = [self._sequence(depth)]
        while self.text[self.at : self.at + 1] == "|":
            self._take(1)
            branches.append(self._sequence(depth))
        if len(branches) == 1:
            return branches[0]
        if not all(branch.clauses for branch in branches):
            return _Piece((), None)
        # Of (a and b) or c it follows that a or c.
        best = [max(branch.clauses, key=lambda clause: min(map(len, clause))) for branch in branches]
        return _Piece((tuple(dict.fromkeys(text for clause in best for text in clause)),), None)

    def _sequence(self, depth: int) -> _Piece:
        clauses: list[Clause] = []
        run = ""  # texts that follow each other
        whole: str | None = ""  # everything so far, if it is one text

        def cut() -> None:
            nonlocal run
            if run:
                clauses.append((run,))
            run = ""

        while self.at < len(self.text) and self.text[self.at] not in "|)":
            piece = self._atom(depth)
            minimum = self._repeats()
            if minimum is None and piece.literal is not None:
                run += piece.literal
                whole = None if whole is None else whole + piece.literal
                continue
            whole = None
            if minimum == 0:
                cut()
            elif piece.literal is not None:  # at least once: it ends the run, and what follows starts another
                run += piece.literal
                cut()
            else:
                cut()
                clauses += piece.clauses
        cut()
        return _Piece(tuple(clauses), whole)

    def _repeats(self) -> int | None:
        """The smallest number of repetitions that the quantifier here allows; None if there is no quantifier."""
        match = _REPEAT.match(self.text, self.at)
        if match is None:
            return None
        sign = self._take(len(match.group()))
        if self.text[self.at : self.at + 1] == "?":  # lazy
            self._take(1)
        if _REPEAT.match(self.text, self.at):
            raise _Unknown
        return int(match[1]) if match[1] else int(sign == "+")

    def _take(self, count: int, instead: str | None = None) -> str:
        text = self.text[self.at : self.at + count]
        if len(text) < count:
            raise _Unknown
        self.out.append(text if instead is None else instead)
        self.at += count
        return text

    def _says(self, text: str) -> _Piece:
        self.capitals = self.capitals or any(char.isupper() for char in text)
        return _Piece(((text,),), text)

    def _atom(self, depth: int) -> _Piece:
        char = self.text[self.at]
        if char == "(":
            return self._group(depth)
        if char == "[":
            return self._brackets()
        if char == "\\":
            return self._escape()
        self._take(1)
        if char in ".^$":
            return _Piece((), None)
        if char in "*+?":  # nothing to repeat: an error of RE2's
            raise _Unknown
        return self._says(char)

    def _group(self, depth: int) -> _Piece:
        self._take(1)
        if self.text[self.at : self.at + 1] == "?":
            match = _GROUP.match(self.text, self.at)
            if match is None:
                raise _Unknown
            flags = match[1] or ""
            self.folds = self.folds or "i" in flags
            self._take(len(match.group()))
            if match[2] == ")":
                if _REPEAT.match(self.text, self.at):  # of what stands before the flags
                    raise _Unknown
                return _Piece((), None)
        inside = self.alternatives(depth + 1)
        if self._take(1) != ")":
            raise _Unknown
        return inside

    def _brackets(self) -> _Piece:
        """Parse `[abc]`: one of several characters, or a literal if there is only one."""
        start = self.at
        self._take(1)
        if self.text[self.at] == "^":
            self._take(1)
        if self.text[self.at] == "]":
            self._take(1)
        while self.text[self.at] != "]":
            posix_class = _POSIX_CLASS.match(self.text, self.at)
            if posix_class:
                self._take(len(posix_class.group()))
            elif self.text[self.at] == "\\":
                rest = self.at + 1
                long = _HEX.match(self.text, rest) or _PROPERTY.match(self.text, rest)
                self._take(1 + len(long.group()) if long else 2, _CLASSES.get(self.text[rest]))
            else:
                self.capitals = self.capitals or self.text[self.at].isupper()
                self._take(1)
        self._take(1)
        inside = self.text[start + 1 : self.at - 1]
        return _Piece(((inside,),), inside) if len(inside) == 1 and inside not in "^\\" else _Piece((), None)

    def _escape(self) -> _Piece:
        rest = self.at + 1
        char = self.text[rest]
        if char.lower() in _CLASSES and char.isascii():
            negated = "^" if char.isupper() else ""
            self._take(2, f"[{negated}{_CLASSES[char.lower()]}]")
            return _Piece((), None)
        if char in "AzbBC":
            self._take(2, {"A": "^", "z": "$"}.get(char))  # a line is all there is of the text
            return _Piece((), None)
        if char == "Q":
            end = self.text.find("\\E", rest)
            stop = len(self.text) if end < 0 else end
            inside = self.text[rest + 1 : stop]
            self._take(min(stop + 2, len(self.text)) - self.at)
            if _REPEAT.match(self.text, self.at):  # of its last character only
                raise _Unknown
            return self._says(inside) if inside else _Piece((), "")
        if match := _HEX.match(self.text, rest) or _PROPERTY.match(self.text, rest) or _OCTAL.match(self.text, rest):
            self._take(1 + len(match.group()))
            return _Piece((), None)
        if char in _CONTROLS:
            self._take(2)
            return self._says(_CONTROLS[char])
        if char.isalnum():
            raise _Unknown
        self._take(2)
        return self._says(char)
