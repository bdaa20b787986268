"""What `lci conflicts` lists and leaves out, on small repositories: imports, macros, members."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.conflicts.logic.machine import Machine, this_machine
from lci_py.types.conflicts import Conflict, ConflictsAnswer, ConflictsRequest

LINUX = Machine("linux", "x86_64", "posix", (3, 12, 0), 64, "little", "gnu")


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    def ask(files: dict[str, str], request: ConflictsRequest | None = None) -> ConflictsAnswer:
        monkeypatch.setenv("LCI_INDEX_DIR", str(tmp_path / "index"))
        monkeypatch.setattr("lci_py.search.conflicts.logic.Machine.here", lambda: LINUX)
        this_machine.cache_clear()
        for name, text in files.items():
            path = tmp_path / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        app.build_index(str(tmp_path / "tree"), jobs=1)
        with app.open_engine(str(tmp_path / "tree"), refresh="never") as session:
            answer = session.conflicts(request or ConflictsRequest())
        this_machine.cache_clear()
        return answer

    return ask


def sites(one: Conflict) -> list[tuple[int, str | None, str, bool]]:
    return [(site.line, site.build_tag, site.relation, site.active) for site in one.definitions]


def named(answer: ConflictsAnswer) -> dict[str, Conflict]:
    return {one.qualified_name: one for one in answer.results}


def test_python_an_import_is_the_other_side_of_a_fallback(listed) -> None:  # type: ignore[no-untyped-def]
    text = """\
        try:
            from fast import dumps, loads as read
        except ImportError:
            def dumps(): ...
            def read(): ...


        def local():
            try:
                from fast import other
            except ImportError:
                pass


        def other(): ...


        try:
            from fast import probed
        except ImportError:
            raise


        def probed(): ...
        """
    found = named(listed({"a.py": text}))
    assert set(found) == {"dumps", "read"}
    assert sites(found["dumps"]) == [(2, "try", "fallback", False), (4, "except ImportError", "fallback", False)]


def test_macros_of_the_repository_keep_conditions_apart(listed) -> None:  # type: ignore[no-untyped-def]
    header = """\
        #if defined(__linux__)
        #define HAVE_EPOLL 1
        #elif defined(__APPLE__)
        #define HAVE_KQUEUE 1
        #endif
        """
    code = """\
        #ifdef HAVE_EPOLL
        int F(void) { return 1; }
        #endif
        #ifdef HAVE_KQUEUE
        int F(void) { return 2; }
        #endif
        #ifdef __unix__
        int G(void) { return 1; }
        #endif
        #ifdef __linux__
        int G(void) { return 2; }
        #endif
        #ifndef WIDE
        #define WIDE 1
        int H(void) { return 1; }
        #endif
        #if !WIDE
        int H(void) { return 2; }
        #endif
        #if defined(OLD) && !defined(hpux)
        #define hpux
        #endif
        #if defined(HAVE_PTS) && !defined(DONE) && !defined(hpux)
        #define DONE
        int K(void) { return 1; }
        #endif
        #ifndef DONE
        int K(void) { return 2; }
        #endif
        """
    found = named(listed({"config.h": header, "a.c": code}))
    assert {name: found[name].relation for name in "FGHK"} == {
        "F": "variant", "G": "overlap", "H": "variant", "K": "variant",
    }  # fmt: skip


def test_members_of_a_listed_type_and_definitions_of_one_text_are_counted(listed) -> None:  # type: ignore[no-untyped-def]
    files = {
        "p/a_linux.go": "package p\n\ntype T struct {\n\tsize int\n}\n\nfunc (t *T) Get() int { return 1 }\n\nfunc F() int { return 1 }\n",
        "p/a_windows.go": "package p\n\ntype T struct {\n\tsize, more int\n}\n\nfunc (t *T) Get() int { return 2 }\n\nfunc F() int { return 1 }\n",
    }
    answer = listed(files)
    assert [(one.qualified_name, one.members) for one in answer.results] == [("p.T", 2)]
    assert (answer.total, answer.same_text, answer.members) == (1, 1, 2)
    whole = named(listed(files, ConflictsRequest(all=True)))
    assert {name: one.same_text for name, one in whole.items()} == {
        "p.T": False, "p.T.size": False, "p.T.Get": False, "p.F": True,
    }  # fmt: skip
    assert list(named(listed(files, ConflictsRequest(name="p.F")))) == ["p.F"]


def test_a_grave_conflict_is_listed_whatever_its_text(listed) -> None:  # type: ignore[no-untyped-def]
    answer = listed({"a.py": "def F(): ...\n\n\ndef F(): ...\n"})
    assert [(one.relation, one.same_text) for one in answer.results] == [("duplicate", True)]


def test_what_cannot_be_decided_is_counted(listed) -> None:  # type: ignore[no-untyped-def]
    def nested(outermost: str, name: str) -> str:
        inner = [f"#ifdef N{i}" for i in range(16)]
        return "\n".join([outermost, *inner, f"int {name}(void) {{ return 1; }}", *["#endif"] * 17, ""])

    def many(letter: str) -> str:
        return " || ".join(f"defined({letter}{i})" for i in range(21))

    deep = nested("#ifdef OUT", "F") + nested("#ifndef OUT", "F")  # more conditions than are kept
    long = f"#if {many('A')}\nint G(void);\nint G(void) {{ return 1; }}\n#endif\n#if {many('B')}\nint G(void) {{ return 2; }}\n#endif\n"
    answer = listed({"a.c": deep + long})
    assert (answer.results, answer.undecided) == ((), 2)


@pytest.mark.parametrize(
    ("files", "active"),
    [
        ({"a.c": "#ifdef _WIN64\nint F(void) { return 1; }\n#else\nint F(void) { return 2; }\n#endif\n"}, []),
        ({"a.c": "#ifdef _WIN32\nint F(void) { return 1; }\n#else\nint F(void) { return 2; }\n#endif\n"}, [4]),
        ({"a.py": "try:\n    def F(): ...\nexcept ImportError:\n    def F(): return 1\n"}, []),
        ({"p/a.go": "package p\nfunc F() {}\n", "p/b.go": "//go:build nocpu\n\npackage p\n\nfunc F() { f() }\n"}, [2]),
        (
            {
                "p/a.go": "//go:build !nocpu\n\npackage p\n\nfunc F() {}\n",
                "p/b.go": "//go:build nocpu\n\npackage p\n\n\nfunc F() { f() }\n",
            },
            [5],
        ),
        ({"a.rs": '#[cfg(target_env = "musl")]\nfn F() {}\n#[cfg(not(target_env = "musl"))]\nfn F() { f() }\n'}, [4]),
    ],
    ids=["64-bit Windows", "Windows", "a rescue", "a tag that nobody sets", "its opposite", "libc"],
)
def test_active_is_what_this_machine_decides(listed, files: dict[str, str], active: list[int]) -> None:  # type: ignore[no-untyped-def]
    (one,) = listed(files).results
    assert [site.line for site in one.definitions if site.active] == active


def test_an_else_has_the_negation_of_every_branch(listed) -> None:  # type: ignore[no-untyped-def]
    branches = "".join(f"{'el' if i else ''}if x == {i}:\n    def F(): return {i}\n" for i in range(30))
    (one,) = listed({"a.py": f"{branches}else:\n    def F(): return -1\n"}).results
    assert (one.relation, len(one.definitions)) == ("variant", 31)


def test_a_chain_that_is_too_long_says_so(listed) -> None:  # type: ignore[no-untyped-def]
    branches = "".join(f"{'el' if i else ''}if x == {i}:\n    def F(): return {i}\n" for i in range(90))
    (one,) = listed({"a.py": f"{branches}else:\n    def F(): return -1\n"}).results
    assert (one.definitions[-1].build_tag or "").startswith("… && ")
    assert one.relation == "variant"  # what was cut decides nothing
