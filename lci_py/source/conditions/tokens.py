"""A condition cut into tokens, the same way for all languages, with the bracket that closes each one."""

from __future__ import annotations

import re

from lci_py.source.text.patterns import lazily

_TOKEN = lazily(
    # No string has a `…` in it: where a text was cut, the quote that opened one is alone.
    r'"(?:\\.|[^"\\…]){0,200}"|\'(?:\\.|[^\'\\…]){0,200}\''
    # `defined?(X)` and `x?.y` are words; the `?` of `a?b:c` is none. The `'` of `1'000` separates digits.
    r"|(?:0[xX][\da-fA-F]+|\d)(?:'?[\w.])*|[\w.$@]+(?:\?\.[\w.$]+)*(?:[?](?![\w.:?]))?"
    r"|===|!==|<=>|&&|\|\||[=!<>~]=|[=!]~|=>|->|<<|>>|\?\?|::|:=|\S",
    re.DOTALL,
)
_REGEX = lazily(r"/(?:\\.|\[(?:\\.|[^\]\\]){0,100}\]|[^/\\\[]){0,100}/\w*")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())


class Tokens:
    """The tokens of a text. Time and memory are linear in its length, whatever it holds.

    Attributes:
        text: The text.
        texts: The tokens. A string has double quotes, unless there are some in it.
        ends: By the index of an opening bracket the index of the closing one.
        is_balanced: Whether there are tokens and every bracket has its partner.
    """

    __slots__ = ("_starts", "ends", "is_balanced", "text", "texts")

    def __init__(self, text: str) -> None:
        self.text = text
        self.texts: list[str] = []
        self._starts: list[int] = []
        self._cut()
        self.ends: dict[int, int] = {}
        self.is_balanced = self._match() and bool(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def source(self, start: int, end: int) -> str:
        """The tokens from `start` to before `end`, as they are written."""
        return self.text[self._starts[start] : self._starts[end - 1] + len(self.texts[end - 1])] if start < end else ""

    def top(self, start: int, end: int) -> list[int]:
        """The indices of the tokens from `start` to before `end` that stand in no bracket, brackets included."""
        found = []
        at = start
        while at < end:
            found.append(at)
            at = self.ends.get(at, at) + 1
        return found

    def split(self, operator: str, start: int, end: int) -> list[tuple[int, int]]:
        """The sides of an operator that stands in no bracket, each as its start and end."""
        cuts = [start - 1]
        for at in self.top(start, end):
            token = self.texts[at]
            if token == operator:
                cuts.append(at)
            elif token in ("(", ")") and at not in self.ends:
                break  # the text was cut, and the bracket holds the rest
        return [(cut + 1, following) for cut, following in zip(cuts, [*cuts[1:], end], strict=True)]

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """The start and end of the same tokens without the round brackets around all of them."""
        while end - start > 2 and self.texts[start] == "(" and self.ends.get(start) == end - 1:
            start, end = start + 1, end - 1
        return start, end

    def _cut(self) -> None:
        text = self.text
        if "/" not in text and "'" not in text:  # as nearly always: nothing depends on the token before
            found = list(_TOKEN.finditer(text))
            self.texts, self._starts = [match.group() for match in found], [match.start() for match in found]
            return
        match = _TOKEN.search(text)
        while match:
            token = match.group()
            if token == "/" and (not self.texts or self.texts[-1] in "=~!~(,&&||!"):
                # After an operand it divides; anywhere else a regular expression begins.
                match = _REGEX.match(text, match.start()) or match
                token = match.group()
            elif token[0] == "'" and len(token) > 1 and '"' not in token:
                token = f'"{token[1:-1]}"'
            self.texts.append(token)
            self._starts.append(match.start())
            match = _TOKEN.search(text, match.end())

    def _match(self) -> bool:
        opened: list[int] = []
        is_balanced = True
        for at, token in enumerate(self.texts):
            if token in _OPEN:
                opened.append(at)
            elif token in _CLOSE:
                while opened and _OPEN[self.texts[opened[-1]]] != token:
                    opened.pop()
                    is_balanced = False
                if opened:
                    self.ends[opened.pop()] = at
                else:
                    is_balanced = False
        return is_balanced and not opened
