"""Small repositories of several languages under git, and ways to change them."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

from tests.torture.program import PROJECT

CORPUS = PROJECT / "fixtures" / "corpus"
LANGUAGES = ("python", "go", "javascript", "c", "java", "markdown")
#: Few words, so that a change of one file changes statistics, ranks and edges of the others.
NAMES = ("load_cache", "flush_queue", "open_session", "parse_entry", "ring_push", "evict", "Store", "retry_upload")
WORDS = ("cache", "queue", "session", "expired", "entry", "refused", "warehouse", "retry", "ring", "buffer", "upload")
FILES = {
    "src/app.py": '''"""Where the program starts."""

from src.util import load_cache, parse_entry


class Session:
    """A session with the warehouse; expired ones are removed."""

    def open_session(self, name):
        return load_cache(parse_entry(name))

    def close(self):
        return self.open_session("connection refused")


def main():
    Session().open_session("a")
''',
    "src/util.py": '''def load_cache(entry):
    """Load an entry of the cache, or of the queue."""
    return parse_entry(entry)


def parse_entry(text):
    return text.strip()
''',
    "src/fips.go": "//go:build fips\n\npackage src\n\n// Seal closes the buffer.\nfunc Seal(buffer []byte) int { return evict(buffer) }\n",
    "src/plain.go": "//go:build !fips\n\npackage src\n\n// Seal closes the buffer.\nfunc Seal(buffer []byte) int { return len(buffer) }\n\nfunc evict(buffer []byte) int { return 1 }\n",
    "web/upload.js": "import { flush } from './flush.js';\n\nexport function retry_upload(entry) {\n  return flush(entry);\n}\n",
    "web/flush.js": "// Flush what is in the queue.\nexport function flush(queue) {\n  return 'connection refused';\n}\n",
    "README.md": "# Sample\n\nA warehouse of small programs.\n\n## Usage\n\nSearch the cache.\n",
    "notes.txt": "plain text notes about the warehouse and its expired entries\n",
    "image.png": "\x00\x01not text",
    ".gitignore": "build/\n*.log\n",
    "build/out.py": "def ignored():\n    pass\n",
}
_DEFINITIONS = {
    ".py": '\n\ndef {name}(value):\n    """{words}."""\n    return {other}(value)\n',
    ".go": "\n// {name} is about {words}.\nfunc {name}(value int) int {{ return {other}(value) }}\n",
    ".js": "\n// {words}\nexport function {name}(value) {{\n  return {other}(value);\n}}\n",
    ".mjs": "\n// {words}\nexport function {name}(value) {{\n  return {other}(value);\n}}\n",
    ".c": "\n/* {words} */\nint {name}(int value) {{\n  return {other}(value);\n}}\n",
    ".h": "\n/* {words} */\nint {name}(int value);\n",
    ".java": "\n/** {words} */\nclass {name} {{\n  int {other}(int value) {{ return value; }}\n}}\n",
}
#: Statements through which functions and objects go as values.
_FLOWS = {
    ".py": (
        "\nhandlers = [{name}, {other}]\nfor step in handlers:\n    step({name})\n",
        "\nclass {name}Like:\n    def __init__(self, run):\n        self.run = run\n\n    def start(self):\n"
        "        return self.run({other})\n\n\n{name}Like({other}).start()\n",
        "\nfrom src.util import {name} as {other}\n\n{other}({name})\n",
        "\n@{other}\ndef {name}(value):\n    yield value\n",
        "\ndef apply_{name}(call, *rest):\n    return call(*rest)\n\n\napply_{name}({other}, {name})\n",
        "\nregistry = {{'{name}': {other}}}\nregistry['{name}']({name})\n",
        "\nimport src.app as app\n\napp.Session().open_session({name})\napp.Session.close = {other}\n",
    ),
    ".js": (
        "\nconst table = [{name}, {other}];\ntable.forEach((step) => step({name}));\n",
        "\nclass {name}Like {{\n  constructor(run) {{ this.run = run; }}\n  start() {{ return this.run({other}); }}\n}}\n"
        "new {name}Like({other}).start();\n",
        "\nimport {{ {name} as {other} }} from './flush.js';\n{other}({name});\n",
        "\nexport const apply_{name} = (call) => call({other});\napply_{name}({name});\n",
        "\nmodule.exports.{name} = {other};\nrequire('./upload.js').{other}({name});\n",
    ),
}
_TEXT = "\n## {name}\n\n{words}, unlike {other}.\n"


def make(root: Path, *, corpus: bool = True, git: bool = False) -> Path:
    """A repository of some twenty files in seven languages."""
    root.mkdir(parents=True)
    if corpus:
        for language in LANGUAGES:
            shutil.copytree(CORPUS / language, root / "lib" / language)
    for name, text in FILES.items():
        write(root / name, text)
    if git:
        run_git(root, "init", "-q", "-b", "main")
        commit(root)
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", newline="")


def run_git(root: Path, *argv: str) -> int:
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.hooksPath=", "-c", "gc.auto=0")
    return subprocess.run(
        ["git", *who, *argv], cwd=root, capture_output=True, check=False, env={**os.environ, **environment}
    ).returncode  # fmt: skip


def commit(root: Path) -> None:
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "a change")


def files(root: Path) -> list[str]:
    """The files of the working tree, sorted, without those of git and of the index."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (".git", ".lci"))
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(name for name in found if not os.path.islink(root / name))


def definition(suffix: str, name: str, other: str, words: str) -> str:
    """Code that defines `name` and uses `other`."""
    return _DEFINITIONS.get(suffix, _TEXT).format(name=name, other=other, words=words)


def flow(suffix: str, which: int, name: str, other: str) -> str:
    """Code that passes functions about; "" in a language in which they are not followed."""
    known = _FLOWS.get(suffix, ("",))
    return known[which % len(known)].format(name=name, other=other)


# --- two states of one repository -----------------------------------------------------------------------------------

#: The files of a change of state: one, or many (edits, an added file, a removed one, a moved one).
SIZES = ("one", "many")


class Flip:
    """A repository with two states, so that any number of changes needs only two sets of answers."""

    def __init__(self, root: Path) -> None:
        self.root = make(root)
        self.state = 0
        self.size = "one"
        self._texts = {name: (root / name).read_text("utf-8") for name in ("src/util.py", "web/flush.js", "notes.txt")}

    def to(self, state: int, size: str = "one") -> None:
        """Make the tree what `state` (0 or 1) of this size is; the other size must be in its state 0."""
        assert size == self.size or not self.state
        self.state, self.size = state, size
        for name, text in self._texts.items():
            if size == "many" or name == "src/util.py":
                suffix = Path(name).suffix
                extra = definition(suffix, "flush_queue", "load_cache", "expired sessions of the queue")
                write(self.root / name, text + extra * state)
        if size == "many":
            for here, text in (
                ("src/new.py", "def evict(entry):\n    return load_cache(entry)\n"),
                ("src/late.go", FILES["src/plain.go"]),
            ):
                write(self.root / here, text) if state else (self.root / here).unlink(missing_ok=True)
            moved = (self.root / "web/upload.js", self.root / "web/old/upload.js")
            source, target = moved if state else moved[::-1]
            if source.exists():
                target.parent.mkdir(exist_ok=True)
                source.rename(target)


def rng(seed: int, *what: object) -> random.Random:
    """A random generator per part of a run, so that a part can be repeated on its own."""
    return random.Random(f"{seed}:{what}")
