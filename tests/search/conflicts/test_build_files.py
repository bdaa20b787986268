"""The platforms that build files name sources for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.conflicts.build_files import _READ, _asked, _mentions, platform_of
from lci_py.types.conflicts import ConflictsRequest
from tests.support.graph_repo import build

ASKED = [
    ('CMAKE_SYSTEM_NAME STREQUAL "AIX")', ("aix", True)),
    ('NOT CMAKE_SYSTEM_NAME MATCHES "Android|QNX")', ("!(android || qnx)", True)),
    ('APPLE OR CMAKE_SYSTEM_NAME MATCHES "Android")', ("apple || android", True)),
    ("UNIX AND NOT APPLE)", ("unix && !apple", True)),
    ("WIN32 AND NOT BUILD_TESTS)", ("windows", False)),
    ("BUILD_TESTS)", ("", False)),
    ("WIN32 OR BUILD_TESTS)", ("", False)),
    ("NOT (WIN32 OR CYGWIN))", ("!(windows || cygwin)", True)),
    (" host_machine.system() == 'windows'", ("windows", True)),
    ("sys.platform != 'win32'", ("!windows", True)),
    ('sys.platform.startswith("linux")', ("linux", True)),
    ("IS_WINDOWS", ("windows", True)),
    (" ($(OS),Windows_NT)", ("windows", True)),
    ('cfg!(target_os = "windows")', ("windows", True)),
    ("", ("", False)),
]
FILES = {
    "CMakeLists.txt": (
        "add_library(x a.c)  # b.c\nif(WIN32)\n  list(APPEND s w.c)\n  if (FAST)\n    list(APPEND s wf.c)\n  endif()\n"
        'elseif(APPLE)\n  list(APPEND s ${DIR}/m.c)\nelse()\n  list(APPEND s u.c)\nendif()\nset(t z.c)\n',
        [("a.c", ""), ("w.c", "windows"), ("wf.c", "windows"), ("${DIR}/m.c", "!windows && apple"),
         ("u.c", "!windows && !apple"), ("z.c", "")],
    ),
    "meson.build": (
        "if host_machine.system() == 'linux'\n  s += files('l.c')\nelif host_machine.system() == 'windows'\n  s += 'w.c'\n"
        "else\n  s += 'o.c'\nendif\n",
        [("l.c", "linux"), ("w.c", "windows"), ("o.c", "!linux && !windows")],
    ),
    "Makefile": (
        "SRC = a.c\nifeq ($(OS),Windows_NT)\nSRC += w.c\nelse ifeq ($(UNAME_S),Linux)\nSRC += l.c\nelse\nSRC += o.c\nendif\n"
        "ifneq ($(OS),Windows_NT)\nSRC += u.c\nendif\n",
        [("a.c", ""), ("w.c", "windows"), ("l.c", "linux"), ("o.c", "!windows && !linux"), ("u.c", "!windows")],
    ),
    "Makefile.am": ("if WINNT\ns += w.c\nelse\ns += u.c\nendif\n", [("w.c", "windows"), ("u.c", "!windows")]),
    "setup.py": (
        "s = ['a.c']\nif sys.platform == 'win32':\n    s += ['w.c']\n    if x:\n        s += ['wx.c']\nelif LINUX:\n"
        "    s += glob('l/*.c')\nelse:\n    s += ['o.c']\ns += ['z.c']\n",
        [("a.c", ""), ("w.c", "windows"), ("wx.c", "windows"), ("l/*.c", "linux"), ("o.c", "!windows && !linux"), ("z.c", "")],
    ),
    "build.rs": (
        'fn main() {\n  let mut b = cc::Build::new();\n  b.file("a.c");\n  if cfg!(target_os = "windows") {\n    b.file("w.c");\n'
        '  } else {\n    b.file("u.c");\n  }\n  b.file("z.c");\n}\n',
        [("a.c", ""), ("w.c", "windows"), ("u.c", "!windows"), ("z.c", "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ASKED, ids=[text for text, _ in ASKED])
def test_what_a_condition_asks(text: str, expected: tuple[str, bool]) -> None:
    assert _asked(text) == expected


@pytest.mark.parametrize("name", FILES)
def test_branches_around_sources(name: str) -> None:
    text, expected = FILES[name]
    assert list(_mentions(text, _READ[name])) == expected


def test_what_builds_say_takes_the_place_of_what_paths_suggest(tmp_path: Path) -> None:
    function = "int start(void) { return 1; }\n"
    root = build(tmp_path, {
        "CMakeLists.txt": "if(WIN32)\n  add_library(x src/service.c)\nelse()\n  add_library(x src/daemon.c src/linux.c)\nendif()\n",
        "src/service.c": function, "src/daemon.c": function, "src/linux.c": "int F(void) { return 1; }\n",
    })  # fmt: skip
    with app.open_engine(str(root)) as session:
        found = session.conflicts(ConflictsRequest(all=True)).results
        assert [[(site.file, site.relation, site.inferred) for site in one.definitions] for one in found] == [
            [("src/daemon.c", "variant", "!windows"), ("src/service.c", "variant", "windows")]
        ]
        assert platform_of(session.snapshot, "src/linux.c") == "!windows"


def test_aliases_of_a_build_script_stand_for_what_they_mean(tmp_path: Path) -> None:
    twice = "#[cfg({})]\npub fn {}() {{}}\n#[cfg({})]\npub fn {}() {{}}\n"
    root = build(tmp_path, {
        "a/build.rs": 'fn main() {\n  cfg_aliases! {\n    // all: { any(a, b) },\n    apple: { any(target_os = "macos", target_os = "ios") },\n'
        '    bsd: { any(apple, target_os = "freebsd") },\n  }\n}\n',
        "a/src/lib.rs": twice.format("bsd", "one", 'target_os = "linux"', "one") + twice.format("bsd", "two", "unix", "two"),
        "b/src/lib.rs": twice.format("bsd", "three", 'target_os = "linux"', "three"),
    })  # fmt: skip
    with app.open_engine(str(root)) as session:
        found = session.conflicts(ConflictsRequest(all=True)).results
        assert {one.symbol: (one.relation, one.definitions[0].build_tag) for one in found} == {
            "one": ("variant", "bsd"), "two": ("overlap", "bsd"), "three": ("overlap", "bsd"),
        }  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("piece", ["if(WIN32)\n", "if ", "if WIN32 {", "else\n", "endif()\n", "}", "a/*.c", "if x:\n "])
def test_hostile_build_files_end(name: str, piece: str) -> None:
    assert all("…" not in condition for _, condition in _mentions(piece * 10_000, _READ[name]))
