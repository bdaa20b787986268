"""The docs are true: commands, settings, links, tables and examples are compared with the program.

LCI_UPDATE_GOLDEN=1 rewrites docs/commands.md, the table of fixtures in docs/call-graph.md and the list of conflicts in the
README; read the diff before committing.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from lci_py import app, config
from lci_py.callgraph import edges as callgraph_edges, lookups
from lci_py.callgraph.pointsto import constraints
from lci_py.callgraph.resolve import ancestry, values
from lci_py.cli import cluster
from lci_py.cli.command_line import parse
from lci_py.cli.main import main
from lci_py.cli.options import COMMANDS, Command
from lci_py.index.shards import branches, symbols_writer
from lci_py.index.shards.arrays import Arrays
from lci_py.index.shards.bm25 import FIELDS
from lci_py.index.store.manifest import FORMAT, Manifest
from lci_py.search.modes.multiview import POOL
from lci_py.search.navigate import dispatch
from lci_py.search.query.plan import INTENTS, LIVE
from lci_py.search.ranking.fusion import SIGNAL_VIEW
from lci_py.search.ranking.graph_lift import SEEDS
from lci_py.types import edges
from lci_py.types.record import fields
from lci_py.types.search import MODES
from tests.callgraph.test_fixtures import NONE, PROGRAMS, read_edges

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
DOCS = PROJECT / "docs"
PACKAGE = PROJECT / "lci_py"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
COMMANDS_PAGE = DOCS / "commands.md"
CALL_GRAPH_PAGE = DOCS / "call-graph.md"
SETTINGS_PAGE = DOCS / "settings.md"
UPDATE = os.environ.get("LCI_UPDATE_GOLDEN") == "1"
# Folders of a real machine: documents name none.
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:home|root|tmp|Users|mnt|opt|var|private)/")
# "at most 8 (`MOST_VALUES`)": a bound, and the constant that holds it.
LIMIT = re.compile(r"(\d[\d,]*)\s+\(`(\w+)`\)")


def text(page: Path) -> str:
    return page.read_text("utf-8")


def rows(page: Path, start: str = "", end: str = "\0") -> Iterator[list[str]]:
    """The cells of all table rows, or of those between two texts."""
    for line in text(page).partition(start)[2].partition(end)[0].splitlines() if start else text(page).splitlines():
        if line.startswith("| "):
            yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.fixture(scope="module")
def segmented(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Path:
    """An index with every kind of content: also a removed file and a binary one."""
    root = Path(shutil.copytree(repo, tmp_path_factory.mktemp("docs") / "repo"))
    (root / "data.bin").write_bytes(b"\0")
    app.build_index(str(root), jobs=1)
    (root / "notes.txt").unlink()
    app.build_index(str(root), jobs=1)
    return root


# --- commands -----------------------------------------------------------------------------------------------------


def usage(command: Command) -> str:
    """One command's section of docs/commands.md."""
    argument = command.argument
    shown = "" if argument is None else f" {argument.metavar}" if argument.required else f" [{argument.metavar}]"
    shown += "…" if argument and argument.required and argument.many and " " not in argument.metavar else ""
    shown += "" if command.more is None else f" [{command.more.metavar}…]"
    out = [f"## lci {command.name}{shown}", "", command.help, ""]
    out += ["| argument or flag | meaning |", "|---|---|"]
    if argument is not None:
        out.append(f"| `{argument.metavar}` | {argument.help} |")
    if command.more is not None:
        out.append(f"| `{command.more.metavar}` | {command.more.help} |")
    for flag in command.flags:
        value = f" {flag.metavar}" if flag.metavar else ""
        spelled = ", ".join(f"`{spelling}{value}`" for spelling in flag.spellings)
        default = f" Default: {flag.default}." if flag.default is not None else ""
        out.append(f"| {spelled} | {flag.help}{default} |".replace("FILE|-", "FILE\\|-"))
    out += ["", "```sh", *(f"{line}  # {does}" for line, does in command.examples), "```"]
    return "\n".join(out)


def commands_page() -> str:
    head = """# Commands

tests/test_docs.py writes this page from `lci_py/cli/options/`, the tables behind `lci --help`; do not edit it.

`lci help COMMAND`, or `lci COMMAND -h`, says in 30 lines what a command takes, with `--all` everything; `lci help` lists the
commands, and `lci help --man` prints a man page (`lci help --man | man -l -`). `lci -V` shows the version.

`eval "$(lci --completion bash)"` in `~/.bashrc`, the same with `zsh` in `~/.zshrc`, and `lci --completion fish >
~/.config/fish/completions/lci.fish` complete commands, flags, their values, and names of definitions of an index that is there.

Flags can stand before or after the argument. A value follows as `--flag VALUE` or `--flag=VALUE`; short flags can be
joined (`-qn5`); everything after `--` is an argument. Give a repeatable flag once for each value. Examples with output:
[tour.md](tour.md).

Paths are read as they are printed. `-p src/http`, `-p './*.py'`, `-p .`, `-p '../lib/**'` and PATHs start at the current
folder, or at the root with `--root`; what is not there may start at the other of the two. Absolute paths do as well. A
glob without a slash, such as `*.py` or `tests`, matches at any depth of the repository, as in `.gitignore`; `./tests` is
one folder. The path of a file that is there is no glob, such as `pages/[id].tsx`. JSON, batches and `path:` in a query
have paths that start at the root.

## Exit codes

| exit | when |
|---|---|
| 0 | results; for `index` and `status`, success |
| 1 | no results; with `--fail-on`, such a conflict |
| 2 | usage or input: unknown mode, bad glob, unreadable path |
| 3 | no index, or one that cannot be used |
| 4 | `--strict`, and the answer is degraded; a single mode that missed `--budget-ms` |
| 70 | an internal error; `-v` prints the traceback |
| 130 | interrupted |

An error is one line on stderr, or with `--json` one `{"error": …}` object on stdout
([json-output.md](json-output.md#errors)).
"""
    sections = [head.rstrip(), short_flags(), *map(usage, COMMANDS.values())]
    return "\n\n".join(sections) + "\n"


def short_flags() -> str:
    """The table of what each letter means: one thing in all commands, except in `grep`, whose letters are those of rg."""
    meanings: dict[str, dict[bool, str]] = {}
    for command in COMMANDS.values():
        for flag in command.flags:
            for letter in (spelling for spelling in flag.spellings if not spelling.startswith("--")):
                known = meanings.setdefault(letter, {}).setdefault(command.name == "grep", flag.spellings[0])
                assert known == flag.spellings[0], f"{letter} means {known} and, in {command.name}, {flag.spellings[0]}"
    rows = ["## Short flags", "", "| letter | means | in `grep`, as in rg |", "|---|---|---|"]
    for letter in sorted(meanings, key=str.swapcase):
        usual, in_grep = meanings[letter].get(False, ""), meanings[letter].get(True, "")
        cells = [f"`{name}`" if name else "" for name in (letter, usual, in_grep if in_grep != usual else "")]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def test_the_commands_page_is_golden() -> None:
    if UPDATE:
        COMMANDS_PAGE.write_text(commands_page(), "utf-8", newline="\n")
    assert text(COMMANDS_PAGE) == commands_page(), "LCI_UPDATE_GOLDEN=1 python -m pytest tests/test_docs.py"


@cache
def written_flags() -> set[str]:
    return {word for page in PAGES for word in re.findall(r"(?<![\w-])-[\w-]+", text(page))}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_every_command_and_flag_is_documented(command: Command) -> None:
    assert f"lci {command.name}" in text(README)
    for flag in command.flags:
        for spelling in flag.spellings:
            assert spelling in written_flags(), spelling


def test_no_document_names_a_flag_that_does_not_exist() -> None:
    known = {spelling for command in COMMANDS.values() for flag in command.flags for spelling in flag.spellings}
    for page in PAGES:
        for line in text(page).splitlines():
            for words in re.findall(
                r"(?<![\w/.-])lci (?:search|show|outline|path|affected|grep|index|def|status|callers|callees|tree|refs|conflicts|agent)\b([^|#`]*)",
                line,
            ):
                unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", words)
                assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", unquoted)) <= known, line


# --- README and settings ------------------------------------------------------------------------------------------


def test_the_two_one_command_entries() -> None:
    makefile = text(PROJECT / "Makefile")
    for target in ("demo", "test"):
        assert f"make {target}" in text(README)
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_list_of_the_fleets_demo_can_be_read(tmp_path: Path) -> None:
    [line] = re.findall(r'do echo "(.+)"; done > \$\$fleet/repos\.txt', text(PROJECT / "Makefile"))
    (tmp_path / "repos.txt").write_text(line.replace("$$name", "email").replace("$$lib", "/lib"))
    assert cluster.listed_repositories(str(tmp_path / "repos.txt")) == [("email", "/lib/email")]


def test_the_readme_has_every_mode() -> None:
    first = [row[0].split(" ")[0].strip("`") for row in rows(README)]
    assert [name for name in first if name in MODES] == list(MODES)


def test_every_exit_code_is_documented() -> None:
    from lci_py import errors
    from lci_py.cli import streams

    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")} | {streams.EXIT_INTERNAL}
    assert {int(row[0]) for row in rows(COMMANDS_PAGE) if row[0].isdigit()} == codes


def test_the_list_of_conflicts_is_what_the_program_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "disagreeing"
    shutil.copytree(PROJECT / "fixtures" / "disagreeing", root)
    app.build_index(str(root), jobs=1)
    monkeypatch.chdir(root)
    assert main(["conflicts"]) == 0
    before, start, rest = text(README).partition("$ lci conflicts\n")
    shown, end, after = rest.partition("```\n")
    assert start and end
    printed = capsys.readouterr().out
    if UPDATE:
        README.write_text(f"{before}{start}{printed}{end}{after}", "utf-8", newline="\n")
        shown = printed
    # Which definition is active differs from machine to machine.
    here = re.compile(r" +← active here$", re.MULTILINE)
    assert here.sub("", shown) == here.sub("", printed), "LCI_UPDATE_GOLDEN=1 python -m pytest tests/test_docs.py"


@pytest.mark.parametrize("page", [README, SETTINGS_PAGE], ids=lambda page: page.name)
def test_the_settings_example_is_valid(page: Path, tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", text(page), re.DOTALL)
    assert example
    (tmp_path / config.CONFIG_FILE).write_text(example[1], "utf-8")
    settings, warnings = config.load(tmp_path)
    assert warnings == []
    assert settings.exclude and settings.include and settings.jobs


def test_every_setting_is_documented() -> None:
    """Each key of .lci.toml, with its default if that is a number, a truth value or a word."""
    table = {row[0]: row[1] for row in rows(SETTINGS_PAGE, "| key |", "\n\n") if "`" in row[0]}
    written = {name: default for names, default in table.items() for name in re.findall(r"`(\w+)`", names)}
    assert set(written) == set(config.FILE_KEYS)
    settings = config.Settings()
    for name, default in written.items():
        value = getattr(settings, name)
        if isinstance(value, (bool, int, str)) and default.startswith("`"):
            assert default == f"`{json.dumps(value)}`", name


def test_every_environment_variable_is_documented() -> None:
    read = {name for path in PACKAGE.rglob("*.py") for name in re.findall(r"LCI_[A-Z_]+", text(path))}
    assert read == set(re.findall(r"LCI_[A-Z_]+", text(SETTINGS_PAGE)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", text(page), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", text(found), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_no_document_names_a_machine_path() -> None:
    for page in PAGES:
        assert not MACHINE_PATH.findall(text(page)), page.name


@pytest.mark.skipif(shutil.which("git") is None or not (PROJECT / ".git").exists(), reason="needs a git checkout")
def test_no_committed_file_names_the_checkout() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True).stdout
    places = [f"{PROJECT}/{name}".encode() for name in ("lci_py", "tests", "docs", "fixtures")]
    for name in filter(None, listed.split(b"\0")):
        path = PROJECT / os.fsdecode(name)
        data = path.read_bytes() if path.is_file() else b""
        assert not any(place in data for place in places), path


# --- tables -------------------------------------------------------------------------------------------------------


def test_the_weights_of_the_ranking_page() -> None:
    page = DOCS / "ranking.md"
    weights = rows(page, "**Weights.**", "**Factors.**")
    table = {row[0].strip("`"): row[1:] for row in weights if row[0].strip("`") in SIGNAL_VIEW}
    for column, intent in enumerate(("balanced_hybrid", "fast_exact")):
        assert {name: float(cells[column]) for name, cells in table.items()} == LIVE.weights[intent]
    assert set(LIVE.weights) == set(INTENTS)
    others = set(INTENTS) - {"balanced_hybrid", "fast_exact"}
    assert all(LIVE.weights[intent] == LIVE.weights["balanced_hybrid"] for intent in others)
    prose = " ".join(text(page).split())
    assert f"the first {SEEDS} (`SEEDS`)" in prose
    factors = {
        row[0].strip("`"): float(row[1]) for row in rows(page, "**Factors.**") if row[0].strip("`") in LIVE.factors
    }
    assert factors == LIVE.factors
    lexical = {
        row[0].strip("`"): (float(row[3]), float(row[4]))
        for row in rows(page, "## bm25", "## symbolic")
        if len(row) == 5 and row[3] != "k1"
    }
    assert lexical == FIELDS
    assert f"The first {POOL} (`POOL`)" in prose
    assert f"multiplied by {LIVE.saturation} to the power k" in prose


def test_the_steps_of_the_call_graph_page() -> None:
    """All steps, in their order, with their confidences."""
    table = {row[0].strip("`"): row[3:] for row in rows(CALL_GRAPH_PAGE, "## Steps", "What each step") if "`" in row[0]}
    assert tuple(table) == edges.STEPS
    for place, cells in enumerate(table.values()):
        expected = [edges.confidence(place), edges.confidence(place | edges.AMBIGUOUS)]
        assert [float(cell) for cell in cells] == pytest.approx(expected), edges.STEPS[place]
    described = text(DOCS / "json-output.md").partition("## callers")[2].partition("\n## ")[0]
    assert all(f"`{step}`" in described for step in edges.STEPS)


def test_the_limits_of_the_call_graph_page() -> None:
    found = {name: int(number.replace(",", "")) for number, name in LIMIT.findall(text(CALL_GRAPH_PAGE))}
    modules = (constraints, values, lookups, ancestry, dispatch, callgraph_edges)
    assert found
    for name, number in found.items():
        assert number in [getattr(module, name) for module in modules if hasattr(module, name)], name


def fixtures_table() -> str:
    """Per language: the edges and traps that fixtures/callgraph lists, and those that lci gets wrong."""
    out = ["| language | edges | traps | missing | fallen for |", "|---|---|---|---|---|"]
    total = [0, 0, 0, 0]
    for program in PROGRAMS:
        wanted = read_edges(text(program / "edges.txt"))
        counts = [
            sum(edge.missed is missed and (edge.sign == NONE) is trap for edge in wanted)
            for missed, trap in ((False, False), (False, True), (True, False), (True, True))
        ]
        total = [old + new for old, new in zip(total, counts, strict=True)]
        out.append(f"| {program.name} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join([*out, "| all | " + " | ".join(map(str, total)) + " |"]) + "\n"


def test_the_table_of_fixtures_is_golden() -> None:
    before, start, rest = text(CALL_GRAPH_PAGE).partition("by tests/test_docs.py -->\n")
    _, end, after = rest.partition("<!-- end of fixtures -->")
    assert start and end
    if UPDATE:
        CALL_GRAPH_PAGE.write_text(f"{before}{start}{fixtures_table()}{end}{after}", "utf-8", newline="\n")
    assert fixtures_table() in text(CALL_GRAPH_PAGE), "LCI_UPDATE_GOLDEN=1 python -m pytest tests/test_docs.py"


@cache
def known_modules() -> set[str]:
    paths = {path.relative_to(PROJECT).as_posix() for top in (PACKAGE, PROJECT / "tests") for path in top.rglob("*.py")}
    short = {path.removeprefix("lci_py/") for path in paths} | {path.rpartition("/")[2] for path in paths}
    return paths | short | {"score.py"}  # of the benchmark (ranking.md)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_no_document_names_a_module_that_does_not_exist(page: Path) -> None:
    """`callgraph/link.py`, or its last part alone; a folder of the package or of the tests; `*` stands for anything."""
    known = known_modules()
    for name in re.findall(r"`([\w/]+\*?\.py)`", text(page)) + re.findall(r"\b(?:lci_py|tests)/[\w/]+\.py", text(page)):
        assert name in known or fnmatch.filter(known, name), name
    parts = [path.name for path in PACKAGE.iterdir() if path.is_dir()]
    for name in re.findall(rf"`((?:lci_py|tests|{'|'.join(parts)})/[\w/]*)`", text(page)):
        assert (PROJECT / name).is_dir() or (PACKAGE / name).is_dir(), name


@pytest.mark.parametrize(("role", "schema"), [("symbols", symbols_writer._SCHEMA), ("branches", branches._SCHEMA)])
def test_the_tables_of_a_shard(role: str, schema: str) -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(schema)
    section = rows(DOCS / "index-format.md", f"## {role}-*.sqlite", "\n## ")
    written = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in section}
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        assert columns == written[table], table
    db.close()


def test_the_fields_of_the_manifest() -> None:
    page = DOCS / "index-format.md"
    written = {name for row in rows(page) for name in re.findall(r"`(\w+)`", row[0])}
    assert {field.name for field in fields(Manifest)} | {"digest"} <= written
    assert page.read_text("utf-8").splitlines()[2].startswith(f"Format {FORMAT}.")


def test_every_file_of_an_index_is_described(segmented: Path) -> None:
    described = {name for row in rows(DOCS / "index-format.md") for name in re.findall(r"`([^`]+)`", row[0])}
    for path in sorted((segmented / config.INDEX_FOLDER).iterdir()):
        name = re.sub(r"-[0-9a-f]{16}", "-DIGEST", path.name)
        assert name in described, name


@pytest.mark.parametrize("role", ["files", "bm25", "facts", "tokens", "graph"])
def test_every_array_of_an_index_is_described(segmented: Path, role: str) -> None:
    """With its type; and what is described is there."""
    section = list(rows(DOCS / "index-format.md", f"## {role}-*.arrays", "\n## "))
    described = {name: row[1] for row in section for name in re.findall(r"`(\w+)`", row[0])}
    names = {"u1": "u1", "u2": "u2", "i4": "int32", "i8": "int64"}
    for path in (segmented / config.INDEX_FOLDER).glob(f"{role}-*.arrays"):
        found = Arrays(path)._table
        assert found.keys() == described.keys()
        for name, (kind, _, _) in found.items():
            assert names[kind] in described[name] or (kind == "u2" and "uint16" in described[name]), name


def test_every_errand_of_the_tour_is_a_command_line() -> None:
    section = (DOCS / "tour.md").read_text("utf-8").partition("## A day's errands\n")[2].partition("\n## ")[0]
    lines = [
        line for line in section.partition("```sh\n")[2].partition("```")[0].splitlines() if line[:1] not in ("", "#")
    ]
    assert [line.rpartition("# ")[2].split()[0] for line in lines] == [str(number) for number in range(1, 41)]
    parsed = 0
    for line in lines:
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        rest = list(words)
        if "lci" in rest:
            own = rest[rest.index("lci") + 1 :]
            end = next((place for place, word in enumerate(own) if set(word) <= set("|<>()&;")), len(own))
            assert parse(own[:end]) is not None, line
            parsed += 1
    assert parsed == 39
