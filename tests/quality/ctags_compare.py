"""The definitions that Universal Ctags has and the index lacks, by language and kind, in some folders.

    python -m tests.quality.ctags_compare FOLDER... [--lang LANGUAGE] [--misses 20] [--dropped 5]

A tag counts as found if a symbol of the same name is on its line (the name's last component, so that `A::b` and `b`
agree). ctags reads most languages with a few regular expressions, so a tag that is not found is first asked whether it
is a definition at all (`reason_against`): it is none if its kind names something else (imports, parameters), if its
name is not written there as a name, if it is local to a function, or if what stands before or after it shows a use.
The text is read with Pygments, which shares no code with the grammars. What is left out is counted by reason.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Punctuation

from lci_py.source.extract.extract import definitions
from lci_py.source.syntax.languages import HEAD_BYTES, TEXT, detect
from lci_py.source.syntax.limits import OutOfTime

Tag = dict[str, Any]

NOT_DEFINITIONS = {
    "import", "parameter", "local", "label", "externvar", "prototype", "header", "package", "using", "unknown",
    "namespaceAlias", "packageName", "heredoc", "script", "alias", "anonMember", "requiredModule", "library", "tparam",
    "macroparam", "name", "receiver", "implementation", "category",
}  # fmt: skip
#: Kinds that name a file's package or an import in one language, and a definition in others.
NOT_DEFINITIONS_OF = {"php": {"namespace"}, "python": {"namespace"}, "haskell": {"module"}, "csharp": {"typedef"}}
#: What is no definition inside a function, and the kinds that ctags gives the functions.
VARIABLES = {"variable", "constant", "property", "field", "member", "var", "local"}
FUNCTIONS = {"function", "method", "func", "subroutine", "singletonMethod", "constructor"}
#: ctags takes these files for another language's by their suffix.
FORCED = {"objc": ["--language-force=ObjectiveC"]}
#: ctags gives another line of the definition: that on which a head ends, an equation below a signature.
ANY_LINE = {"objc", "haskell"}
LEXERS = {
    "c": "cpp", "cpp": "cpp", "objc": "objective-c", "ocaml_interface": "ocaml", "tsx": "typescript",
    "csharp": "csharp", "php": "php", "markdown": "",
}  # fmt: skip
BRACES = {"c", "cpp", "csharp", "java", "javascript", "kotlin", "php", "rust", "scala", "typescript", "tsx"}
#: What a definition looks like, where ctags takes other things for one. NAME is the name as it is written.
_TYPE = r"[\w>\])?*](?<!\bnew)(?<!\breturn)(?<!\bthrow)(?<!\bawait)(?<!\belse)(?<!\bin)\s+"
SHAPES = {
    ("csharp", "method"): _TYPE + r"(?:[\w.<>]+\.)?NAME\s*(?:<[^()]*>)?\s*\(",
    ("csharp", "field"): _TYPE + r"NAME\s*(?:[=;,{]|$)",
    ("csharp", "property"): _TYPE + r"(?:[\w.<>]+\.)?NAME\s*(?:\{|=>|$)",
    ("csharp", "class"): r"\b(?:class|record)\s+NAME",
    ("java", "method"): _TYPE + r"NAME\s*\(|^\s*NAME\s*\([^;]*$",
    ("java", "enumConstant"): r"(?<!@)NAME",
    ("kotlin", "method"): r"\bfun\s+(?:<[^()]*>\s*)?(?:[\w<>?,. *]+\.)?`?NAME`?\s*\(",
    ("kotlin", "constant"): r"(?<!when \()(?<!when\()\bva[lr]\s+(?:<[^()]*>\s*)?(?:[\w<>?,. *]+\.)?`?NAME",
    ("php", "variable"): r"(?:\b(?:public|protected|private|var|static|readonly)\b[^;=]*|^)\$NAME",
    ("php", "function"): r"\bfunction\s+&?\s*NAME",
    ("python", "function"): r"\bdef\s+NAME",
    ("lua", "function"): r"NAME\s*=\s*function\b|\bfunction\s+NAME",
    ("bash", "function"): r"^\s*(?:function\s+NAME|NAME\s*\(\s*\))",
    ("rust", "variable"): r"(?<!')\bstatic\s+(?:mut\s+)?NAME",
    ("javascript", "class"): r"\bclass\s+NAME|NAME\s*=\s*class\b|\bfunction\s+NAME",
    ("javascript", "function"): r"^\s*(?:export\s+|default\s+|async\s+)*function[\s*]+NAME|NAME\s*[:=]\s*(?:async\b|function\b|\()",
    ("javascript", "variable"): r"^(?!.*\brequire\().*NAME",
    ("objc", "function"): r"NAME(?!.*;)", ("objc", "protocol"): r"NAME\s*(?:<[^>]*>)?\s*$",
    ("objc", "property"): r"NAME\s*;", ("objc", "typedef"): r"\(\^NAME\)|^[^(]*NAME\s*;",
    ("ocaml", "type"): r"(?<!\bwith )(?<!\band )(?<!\bmodule )\btype\s+(?:nonrec\s+)?(?:[^=]*\s)?NAME(?!\s*\+?:?=|\s+[\w('])|^\s*(?:type|and)\s+(?:[^=]*\s)?NAME\s*=(?!=)",
    ("ocaml", "module"): r"^\s*(?:let\s+|and\s+)?module\s+(?:type\s+|rec\s+)?NAME(?!\s*:?=\s*[A-Z][\w.]*\s*$)",
    ("ocaml", "Exception"): r"\bexception\s+NAME(?!.*->)",
    ("ocaml", "Constructor"): r"(?<!\(module )NAME",
    ("ocaml", "RecordField"): r"NAME\s*:",
    ("ocaml", "val"): r"(?<!\()\bval\s+NAME",
    ("c", "variable"): r"^(?!.*\(\s*NAME\s*\)\s*\().*NAME",  # LUA_API int (lua_type) (lua_State *L);
    ("haskell", "function"): r"^(?!pattern\b)\s*NAME(?!.*\bwhere$)",
    ("rust", "constant"): r"\bconst\s+NAME",
    ("typescript", "constant"): r"^[^:=]*\b(?:const|let|var|readonly)\b[^=:]*NAME",
    ("typescript", "property"): r"(?:^|[{,;(])\s*(?:(?:readonly|public|private|protected|static|declare|abstract|override)\s+)*#?NAME\s*[?!]?\s*(?:[:=;,}]|$)",
    ("ruby", "constant"): r"NAME\s*(?:\|\|)?=",
}  # fmt: skip
SHAPES[("typescript", "variable")] = SHAPES[("typescript", "constant")]
SHAPES[("kotlin", "variable")] = SHAPES[("kotlin", "constant")]
SHAPES |= {("ocaml_interface", kind): shape for (lang, kind), shape in [*SHAPES.items()] if lang == "ocaml"}
#: The head of a brace that holds definitions, and what stands before one that holds the elements of a value.
HOLDER = re.compile(
    r"(?<![:,] )\b(?:class|struct|union|enum|interface|trait|object|impl|namespace|module|mod|record|extension|extern)(?:\s|$)"
)
VALUE = re.compile(r"(?:[=(,:\[?&|]|\breturn)\s*$")
BRANCH = re.compile(r"\s*#\s*(if|el|endif)")


def last(name: str) -> str:
    return re.split(r"::|[.\\:#]", name.replace(" ", "").rstrip(":"))[-1].strip("`")  # `setSize:of:` of Objective-C


class Text:
    """A file as Pygments reads it: where names are, and what is inside the body of a function."""

    def __init__(self, path: str, language: str) -> None:
        self.text = Path(path).read_bytes().decode("utf-8", "replace")
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        name = LEXERS.get(language, language)
        options = {
            "stripnl": False,
            "ensurenl": False,
            "stripall": False,
            **({"startinline": True} if name == "php" and "<?" not in self.text else {}),
        }
        self.tokens = list(get_lexer_by_name(name, **options).get_tokens_unprocessed(self.text)) if name else []
        self.offsets = [token[0] for token in self.tokens]
        self.bodies = sorted(self._bodies()) if language in BRACES else []
        self.lets = sorted(self._lets()) if language == "ocaml" else []

    def kind_at(self, offset: int) -> Any:
        place = bisect_right(self.offsets, offset) - 1
        return self.tokens[place][1] if place >= 0 else None

    def is_local(self, offset: int) -> bool:
        return any(start < offset < end for start, end in (*self.bodies, *self.lets))

    def _bodies(self) -> Iterator[tuple[int, int]]:
        """The braces around statements. Of the branches of an `#if` the first counts."""
        stack: list[tuple[int, bool]] = []
        branches: list[list[tuple[int, bool]]] = []
        head = ""
        for start, kind, value in self.tokens:
            if kind in Comment.Preproc:
                match = BRANCH.match(value)
                if match is not None and match[1] == "if":
                    branches.append([*stack])
                elif match is not None and branches:
                    stack = [*branches[-1]] if match[1] == "el" else stack
                    branches = branches[:-1] if match[1] == "endif" else branches
                continue
            if kind in Comment or kind in Literal:
                continue
            if kind not in Punctuation or not re.search(r"[{};]", value):
                head += value
                continue
            for at, mark in enumerate(value, start):
                if mark == "{":
                    stack.append((at, not HOLDER.search(head) and not VALUE.search(head)))
                elif mark == "}" and stack:
                    opened, body = stack.pop()
                    if body:
                        yield opened, at
                head = "" if mark in "{};" else head + mark

    def _lets(self) -> Iterator[tuple[int, int]]:
        """From the name of each `let` that has an `in` to the `in`: OCaml's local definitions."""
        stack: list[tuple[str, int]] = []
        opens = {"struct", "sig", "begin", "object", "(", "[", "{", "[|"}
        for start, kind, value in self.tokens:
            if kind in Comment or kind in Literal:
                continue
            word = value.strip()
            if word == "let" or word in opens:
                stack.append((word, start))
            elif word == "in":
                while stack and stack[-1][0] == "let":
                    yield stack.pop()[1], start
                    break
            elif word in ("end", ")", "]", "}", "|]", "done"):
                while stack and stack.pop()[0] == "let":
                    pass


def reason_against(tag: Tag, language: str, text: Text) -> str:
    """Why a tag is no definition that a user looks for, or ""."""
    kind = tag.get("kind", "unknown")
    scope = tag.get("scopeKind", "")
    if language == "markdown" or tag["line"] > len(text.lines):
        return ""
    line, at = text.lines[tag["line"] - 1], text.starts[tag["line"] - 1]
    if kind == "test":
        word = text.kind_at(at + len(line) - len(line.lstrip()))
        return (
            "" if f'"{tag["name"]}"' in line and word not in Comment and word not in Literal else "no definition there"
        )
    parts = re.split(r"::|\\", tag["name"]) if language != "php" or kind != "variable" else [tag["name"]]
    name = parts[-1].strip("`").removesuffix("=") if kind == "accessor" else parts[-1].strip("`")
    name = name if language == "lua" else re.split(r"[.]", name)[-1] or name
    if not re.match(r"[\w~$]", name) or name == "_" or (language == "bash" and name.endswith("=")):
        return "no name" if language != "cpp" and language != "c" else ""
    written = r"\s*".join(re.escape(part) for part in re.findall(r"\w+|[^\w\s]", name))
    edges = rf"(?<![\w$]){written}(?!\w)" if language != "php" else rf"(?<!\w){written}(?!\w)"
    places = [match.start() for match in re.finditer(edges, line)]
    if not places:
        return "not written there"
    kinds = [text.kind_at(at + place) for place in places]
    kinds = [one for one in kinds if one is None or kind == "macro" or (one not in Comment and one not in Literal)]
    if not kinds:
        return "in a comment or a string"
    if all(one is not None and one in Keyword and one not in Keyword.Type for one in kinds) and language not in (
        "cpp",
        "c",
    ):
        return "a keyword"
    if language in ("c", "cpp") and kind in ("function", "variable") and _is_macro(tag, name):
        return "the use of a macro"
    shape = SHAPES.get((language, kind))
    if shape and not re.search(shape.replace("NAME", edges), line):
        return "no definition there"
    if (
        kind == "function"
        and language in ("javascript", "typescript")
        and not re.search(rf"function[\s*]+{edges}", line)
    ):
        kind = "variable"
    if kind in VARIABLES and (scope in FUNCTIONS or any(text.is_local(at + place) for place in places)):
        return "local"
    return ""


def _is_macro(tag: Tag, name: str) -> bool:
    """Whether a function of C is a macro in use: its name has no small letters, or it has no type before it and is no
    constructor, destructor or operator."""
    if not re.search(r"[a-z]", name):
        return True
    scope = re.sub(r"<.*", "", re.split(r"::", tag.get("scope", ""))[-1])
    return (
        tag["kind"] == "function" and "typeref" not in tag and name != scope and not name.startswith(("operator", "~"))
    )


def tags_of(files: Iterable[Path], language: str) -> dict[str, list[Tag]]:
    """The tags of files, by path; those that are no definitions by their kind are left out."""
    none = NOT_DEFINITIONS | NOT_DEFINITIONS_OF.get(language, set())
    command = ["ctags", *FORCED.get(language, ()), "--output-format=json", "--fields=+nKzSst", "--kinds-all=*"]
    out = subprocess.run([*command, "-L", "-", "-f", "-"], input="\n".join(map(str, files)).encode(),
                         capture_output=True, check=True).stdout.decode("utf-8", "replace")  # fmt: skip
    found: dict[str, list[Tag]] = defaultdict(list)
    for row in map(json.loads, filter(None, out.split("\n"))):
        if (
            row.get("_type") == "tag"
            and row.get("kind", "unknown") not in none
            and not row["name"].startswith("__anon")
        ):
            found[row["path"]].append(row)
    return found


def lacking(path: Path, language: str, tags: list[Tag]) -> list[Tag]:
    """The tags of a file that are no symbols of it."""
    try:
        symbols = definitions(path.name, path.read_bytes(), language).symbols
    except OutOfTime:
        symbols = ()
    ours = {
        (last(symbol.name), line)
        for symbol in symbols
        for line in (range(symbol.line, symbol.end_line + 1) if language in ANY_LINE else (symbol.line,))
    }
    return [tag for tag in tags if (last(tag["name"]), tag["line"]) not in ours]


def files_of(folder: Path) -> dict[str, list[Path]]:
    """The files below a folder that the index reads, by language."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= 2_000_000:
            source = path.read_bytes()
            language = detect(path.name, source[:HEAD_BYTES])
            if language not in (None, TEXT) and max(map(len, source.split(b"\n"))) <= 20_000:  # as the walk does
                found[str(language)].append(path)
    return found


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folders", type=Path, nargs="+")
    ap.add_argument("--lang", help="our language name (default: all)")
    ap.add_argument("--misses", type=int, default=0, help="misses shown per kind")
    ap.add_argument("--dropped", type=int, default=0, help="tags shown per kind and reason that are no definitions")
    args = ap.parse_args()
    total: Counter[tuple[str, str]] = Counter()
    misses: dict[tuple[str, str], list[str]] = defaultdict(list)
    dropped: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for folder in args.folders:
        for language, files in files_of(folder).items():
            if args.lang not in (None, language):
                continue
            for path, tags in tags_of(files, language).items():
                total.update((language, tag["kind"]) for tag in tags)
                missing = lacking(Path(path), language, tags)
                text = Text(path, language) if missing else None
                for tag in missing:
                    key = language, tag["kind"]
                    reason = reason_against(tag, language, text) if text is not None else ""
                    shown = f"{path}:{tag['line']} {tag['name']} | {text.lines[tag['line'] - 1][:90] if text and tag['line'] <= len(text.lines) else ''}"
                    (dropped[(*key, reason)] if reason else misses[key]).append(shown)
    for key, count in sorted(total.items()):
        print(f"{' '.join(key):28s} lacking {len(misses[key]):5d} of {count:6d}")
        for line in misses[key][: args.misses]:
            print("     miss", line)
    for (language, kind, reason), lines in sorted(dropped.items()):
        print(f"{language} {kind}: {len(lines)} {reason}")
        for line in lines[: args.dropped]:
            print("     dropped", line)
    lost = Counter({language: 0 for language, _ in total})
    for (language, _), lines in misses.items():
        lost[language] += len(lines)
    for language, count in lost.most_common():
        print(f"{language:28s} {count}")
    print(f"all {sum(lost.values())} of {sum(total.values())}, left out {sum(map(len, dropped.values()))}")


if __name__ == "__main__":
    main()
