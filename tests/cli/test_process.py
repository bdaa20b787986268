"""Whole processes: pipes, encodings, terminals, completion, and what a search imports."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lci_py import app
from lci_py.cli import streams
from lci_py.cli.command_line import Invocation
from tests.cli.fake import FAKE, environment, process
from tests.conftest import PROJECT
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("argv", [["q"], ["q", "--json"], ["q", "--jsonl"], ["q", "--paths"]])
def test_a_reader_that_goes_away_is_no_error(argv: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)  # so that every write fails
    ran = process("search", *argv, hits=5000, capture_output=False, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_help_to_a_reader_that_goes_away() -> None:
    read, write = os.pipe()
    os.close(read)
    ran = process("--help", capture_output=False, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with open("/dev/full", "wb") as full:
        ran = process("search", "q", hits=1, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert ran.returncode == 2
    assert ran.stderr == b"lci: cannot write to standard output: No space left on device: is the disk full?\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("args", [("--help",), ("--version",), ("search", "--help")])
def test_a_full_disk_is_an_error_of_help_too(args: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        ran = process(*args, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert ran.returncode == 2
    assert ran.stderr == b"lci: cannot write to standard output: No space left on device: is the disk full?\n"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_no_encoding_crashes_the_output(encoding: str) -> None:
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    ran = {flag: process("search", "q", flag, hits=1, env=env) for flag in ("--color=never", "--json", "--paths")}
    assert {(one.returncode, one.stderr) for one in ran.values()} == {(0, b"")}
    found = json.loads(ran["--json"].stdout)
    assert found["results"][0]["file"] == "src/\udcff\u00e9.py"


@pytest.mark.skipif(sys.platform != "linux", reason="bytes as file names")
def test_paths_in_a_pipe_are_the_bytes_of_the_path() -> None:
    assert process("search", "q", "--paths", hits=1).stdout == b"src/\xff\xc3\xa9.py:4\n"


def test_a_query_that_is_not_utf8_is_answered() -> None:
    ran = process("search", os.fsdecode(b"caf\xe9"), "--json", hits=1)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["query"] == "caf\ufffd"


def test_closed_stdout() -> None:
    command = f'"{sys.executable}" -m lci_py --version >&-'
    env = environment()
    ran = subprocess.run(["sh", "-c", command], env=env, capture_output=True, check=False, timeout=PATIENCE)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_closed_stdin() -> None:
    command = f'"{sys.executable}" -c "$0" search --batch - <&-'
    ran = subprocess.run(
        ["sh", "-c", command, FAKE.format(hits=1)],
        env=environment(),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (ran.returncode, json.loads(ran.stdout)["error"]["code"], ran.stderr) == (2, "bad_path", b"")


def test_a_batch_answers_each_line_before_it_reads_the_next() -> None:
    code = FAKE.format(hits=1)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    env = environment()
    with subprocess.Popen([sys.executable, "-c", code, "search", "--batch", "-"], env=env, **pipes) as talk:  # type: ignore[call-overload]
        late = threading.Timer(PATIENCE, talk.kill)  # else a missing answer would hang the test
        late.start()
        for query in ("one", "two"):
            talk.stdin.write(query.encode() + b"\n")
            talk.stdin.flush()
            assert json.loads(talk.stdout.readline())["query"] == query
        late.cancel()
        talk.stdin.close()
        assert talk.wait(PATIENCE) == 0


def _in_a_terminal(*argv: str, env: dict[str, str]) -> str:
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    terminal = {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", **env}
    process(*argv, hits=1, env=terminal, capture_output=False, stdout=follower, stderr=follower)
    os.close(follower)
    seen = os.read(leader, 1 << 16).decode()
    os.close(leader)
    return seen


def test_colour_on_a_terminal_unless_no_color() -> None:
    assert "\x1b[35m" in _in_a_terminal("search", "q", env={"NO_COLOR": ""})
    plain = _in_a_terminal("search", "q", env={"NO_COLOR": "1"})
    assert "\x1b" not in plain
    assert "src/\\xffé.py:4" in plain
    assert "\x1b" not in _in_a_terminal("search", "q", env={"TERM": "dumb"})


def test_progress_only_on_a_terminal_and_not_when_quiet() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def wanted(**flags: bool) -> bool:
        with streams.progress(Invocation("index", flags)) as progress:
            return progress is not None

    assert not wanted()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", Terminal())
        assert wanted()
        assert not wanted(quiet=True)
        assert not wanted(json=True)


@pytest.mark.parametrize(
    "argv", [["search", "q", "--json"], ["search", "q"], ["search", "q", "-m", "symbolic", "--paths"]]
)
def test_a_search_imports_nothing_heavy(argv: list[str]) -> None:
    check = """
import sys, lci_py, types
fake = types.ModuleType("lci_py.app")
sys.modules["lci_py.app"] = lci_py.app = fake
class Session:
    root = "."
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def search(self, r):
        from lci_py.types.search import Answer, IndexInfo
        return Answer(r.query, r.mode, (), 0, False, IndexInfo(1, "", None, None, 0))
fake.open_engine = lambda root, model, **how: Session()
fake.default_mode = lambda root: "dense"
from lci_py.cli.main import main
main({argv!r})
heavy = ("numpy", "pydantic", "faiss", "prompt_toolkit", "pygments")
print(*(name for name in heavy if name in sys.modules), file=sys.stderr)
"""
    code = check.format(argv=argv)
    env = environment()
    ran = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (ran.returncode, ran.stderr) == (0, "\n")


@pytest.mark.parametrize("argv", [["search", "one", "--mode", "multiview"], ["callers", "one"]], ids=" ".join)
def test_a_query_imports_nothing_of_how_an_index_is_built(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "a.py").write_text("def one():\n    pass\ndef two():\n    one()\n")
    app.build_index(str(tmp_path), jobs=1)
    env = environment() | {"LCI_CONFIG_DIR": os.environ["LCI_CONFIG_DIR"]}
    check = f"""
import sys
from lci_py.cli.main import main
assert main([*{argv!r}, "--json", "--root", {str(tmp_path)!r}]) == 0
parts = ("lci_py.callgraph.program", "lci_py.callgraph.pointsto", "lci_py.source.extract", "lci_py.source.dataflow")
print(*(name for name in parts if name in sys.modules), file=sys.stderr)
"""
    ran = subprocess.run(
        [sys.executable, "-c", check], env=env, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (ran.returncode, ran.stderr) == (0, "\n")


def test_neither_an_index_run_nor_a_search_loads_openssl(tmp_path: Path) -> None:
    """It takes 2 ms, and the hashes of an index are blake2b, which Python has built in."""
    (tmp_path / "a.py").write_text("def one():\n    pass\n")
    check = f"""
import sys
from lci_py.cli.main import main
assert main(["index", "-q", {str(tmp_path)!r}]) == 0
for mode, query in (("symbolic", "kind:function"), ("bm25", "one"), ("dense", "one"), ("multiview", "one")):
    assert main(["search", query, "--mode", mode, "--json", "--root", {str(tmp_path)!r}]) == 0
print(*(name for name in ("hashlib", "hmac", "_hashlib") if name in sys.modules), file=sys.stderr)
"""
    env = environment() | {"LCI_CONFIG_DIR": str(tmp_path / "config")}
    ran = subprocess.run(
        [sys.executable, "-c", check], env=env, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (ran.returncode, ran.stderr) == (0, "\n")


def test_nothing_but_the_key_is_left_in_the_home_folder(tmp_path: Path) -> None:
    """onnxruntime 1.30 and later sends telemetry and keeps a device number in the home folder unless that is off."""
    home, repository = tmp_path / "home", tmp_path / "repository"
    home.mkdir()
    repository.mkdir()
    (repository / "a.py").write_text(
        "def remove_expired(sessions):\n    return [s for s in sessions if not s.expired]\n"
    )
    bare = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"}
    for command in (["index"], ["search", "expired", "--mode", "dense"], ["search", "expired", "--mode", "multiview"]):
        argv = [sys.executable, "-m", "lci_py", *command]
        done = subprocess.run(argv, env=bare, cwd=repository, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    left = sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))
    assert left == [".config", ".config/lci", ".config/lci/index.key"]


def test_numpy_comes_without_what_serves_its_documentation() -> None:
    code = """if True:
        import sys
        from lci_py.cli import lean_numpy
        lean_numpy.install()
        import numpy
        assert not {"inspect", "dis", "numpy._typing"} & sys.modules.keys()
        assert float(numpy.linalg.norm(numpy.ones(4))) == 2.0
        assert numpy.unique(numpy.array([2, 1, 2])).tolist() == [1, 2]
        import lci_py.callgraph.link
        import lci_py.index.build.write_segment
        assert not {"inspect", "numpy._typing", "numpy.ma"} & sys.modules.keys()
        # What is imported later is whole, and what a stand-in has not is in the module.
        import inspect
        import numpy.typing
        assert str(inspect.signature(lambda a: a)) == "(a)"
        assert numpy.typing.NDArray[numpy.int8] is not numpy.typing.NDArray
        assert numpy._core.overrides.inspect.getdoc is inspect.getdoc
        masked = numpy.ma.masked_array([1, 1, 2], [True, True, False])
        assert numpy.unique(masked).tolist() == [2, None]
        """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
