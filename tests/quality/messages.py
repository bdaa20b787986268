"""Messages as a program prints them: string literals with placeholders, and values in their place."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

#: Suffix to what a literal with placeholders looks like there.
_FORMAT = r'"((?:[^"\\\n])*%[a-zA-Z][^"\\\n]*)"'
_LITERALS = {
    ".py": re.compile(r'f"((?:[^"\\{\n]|\{[^{}"\n]*\})*)"|' + _FORMAT),
    ".rs": re.compile(r'"((?:[^"\\\n])*\{[\w:?.]*\}[^"\\\n]*)"'),
    ".cs": re.compile(r'\$"((?:[^"\\{\n]|\{[^{}"\n]*\})*)"'),
    ".rb": re.compile(r'"((?:[^"\\#\n]|#\{[^{}"\n]*\})*)"'),
    **dict.fromkeys((".ts", ".tsx", ".js"), re.compile(r"`((?:[^`\\$\n]|\$\{[^{}`\n]*\})*)`")),
    **dict.fromkeys((".go", ".c", ".cc", ".h", ".php", ".java", ".kt"), re.compile(_FORMAT)),
}
_PLACEHOLDER = re.compile(r"[$#]?\{[^{}]*\}|%[-+ #0]*[\d.*]*[lhz]*[a-zA-Z]")
_VALUES = (
    "localhost:6379", "10.0.0.12", "/var/lib/app/data.db", "42", "user_17", "config.yaml", "connection refused",
    "[Errno 104] Connection reset by peer", "timeout", "0x7f3a", "2026-11-23T08:00:01Z", "src/index.ts",
    "invalid syntax", "no such file or directory", "1.5s", '"abc"',
)  # fmt: skip
_ASIDE = re.compile(r"test|spec|vendor|(?:^|/)docs?/|(?:^|/)\.", re.IGNORECASE)
_WORDS = range(3, 15)


def messages(root: Path, most: int, seed: str) -> list[tuple[str, str, int]]:
    """Messages of a checkout: (message, path, line). Each literal stands in one place, with 3 to 14 words of its own."""
    chosen = random.Random(f"{root.name} {seed}")
    found = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        pattern = _LITERALS.get(path.suffix)
        if pattern is None or _ASIDE.search(name) or not path.is_file():
            continue
        text = path.read_text("utf-8", "replace")
        for match in pattern.finditer(text):
            literal = next(group for group in match.groups() if group is not None)
            line = text.count("\n", 0, match.start()) + 1
            if not text.splitlines()[line - 1].lstrip().startswith(("//", "*", "#")):
                found.append((literal, name, line))
    once = Counter(_PLACEHOLDER.sub("\0", literal) for literal, _, _ in found)
    kept = []
    for literal, name, line in found:
        bare = _PLACEHOLDER.sub("\0", literal)
        if "\0" in bare and once[bare] == 1 and len(re.findall(r"[A-Za-z]{2,}", bare)) in _WORDS and "<" not in bare:
            kept.append((literal, name, line))
    chosen.shuffle(kept)
    return [
        (_PLACEHOLDER.sub(lambda _: chosen.choice(_VALUES), literal), name, line) for literal, name, line in kept[:most]
    ]
