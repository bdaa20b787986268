"""Fixtures: a small repository of many languages, indexed once per test run, and the command line."""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

# Before numpy is loaded: its threads wait by spinning, which takes the core from the other worker of the run.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

from lci_py import app
from lci_py.callgraph.gc_paused import collect_rarely
from lci_py.callgraph.resolve import calls
from lci_py.cli.main import main
from lci_py.index.build import worker_pool
from lci_py.index.build.changes import TICK_NS
from lci_py.search.engine import Engine
from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import load_languages
from tests.support import terminal
from tests.support.waiting import PATIENCE
from tests.support.zygote import Zygote, start

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # As in a background job of a shell; the program then ignores Ctrl-C, too, which tests send to it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and nothing that a busy machine can fail: `make torture` takes random ones, with
# --hypothesis-profile=random.
_CALM = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("repeatable", derandomize=True, max_examples=40, **_CALM)
settings.register_profile("random", **_CALM)
settings.load_profile("repeatable")

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = PROJECT / "fixtures" / "corpus"
#: Folders and modules that `make quick` leaves out: what takes some seconds, and what starts many processes.
SLOW = (
    "whole/", "programs/", "cluster/", "cli/mcp_server/", "test_interrupts.py", "agents/test_entry.py",
    "callgraph/test_relink.py", "callgraph/test_program.py", "cli/test_affected.py", "cli/test_cluster.py",
    "cli/test_conflicts.py", "cli/test_graph.py", "cli/test_output.py", "cli/test_process.py", "cli/test_terminal.py",
    "index/build/test_branches.py", "index/build/test_embedding.py", "index/build/test_worker_pool.py",
    "index/shards/test_bm25.py", "index/shards/test_files.py", "index/store/test_commit.py",
    "index/store/test_search_log.py", "index/store/test_seal.py", "render/json/test_answer.py",
    "search/conflicts/test_since.py", "search/explain/test_steps.py", "search/modes/test_candidates.py",
    "source/conditions/", "source/extract/test_chunk.py", "source/extract/test_hard_text.py",
    "source/extract/test_python_ast.py", "source/repository/test_hooks.py", "source/syntax/test_limits.py",
    "source/syntax/test_macro_text.py", "source/test_record_codec.py", "cli/test_stats.py", "training/test_wheel.py",
)  # fmt: skip
#: Folders and modules of commands that start nothing: their fixture `lci` needs no process, a tenth of the time.
ASKS = ("cli/", "search/", "whole/test_formats.py", "whole/test_ignore_files.py", "whole/test_model_setting.py")
#: Modules about the processes that parse. Elsewhere `app.build_index` parses in the process of the test, as on systems
#: without fork: to fork a process of this size takes longer than to index a tree of three files.
PARSES_APART = (
    "index/build/test_worker_pool.py", "whole/test_hostile.py", "whole/test_processes.py", "whole/test_resume.py",
)  # fmt: skip
_ZYGOTE = pytest.StashKey[Zygote]()


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> dict:
        return json.loads(self.out)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            path = item.path.relative_to(here).as_posix()
            if path.startswith(SLOW):
                item.add_marker(pytest.mark.slow)
    # First what takes long: a worker that gets such a file last is waited for by all others.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection() -> None:
    """Thousands of collected tests are no garbage: nothing walks them, in the forks of this process least of all."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
    collect_rarely()  # as a command does: at Python's own threshold a tenth of the time goes into collections


@pytest.fixture(scope="session", autouse=True)
def config_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A separate cache key for this run and its processes, instead of the developer's."""
    folder = tmp_path_factory.mktemp("config") / "lci"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCI_CONFIG_DIR", str(folder))
        for name in ("LCI_TRUST_INDEX", "LCI_REFRESH", "LCI_INDEX_DIR", "LCI_LOG", "LCI_MODE"):
            patch.delenv(name, raising=False)
        patch.setenv("LCI_PAGER", "cat")  # none
        patch.setattr(calls, "FAULTS", ())  # a fault while a file is linked fails the test
        # What these tests write need not outlive a power cut. The runs of tests/torture call it in earnest.
        patch.setattr(os, "fsync", lambda _handle: None)
        yield folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """One zygote for all workers of a run: to load the program takes seconds. `node` is xdist's, of a worker."""
    if sys.platform == "linux":
        if not (zygote := node.config.stash.get(_ZYGOTE, None)):
            zygote = node.config.stash[_ZYGOTE] = Zygote(os.environ, syncs=False)
            node.config.add_cleanup(lambda: zygote.__exit__())
        node.workerinput["zygote"] = zygote.socket


@pytest.fixture(scope="session")
def zygote(config_folder: Path, request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The socket of a process that runs the program in forks of itself; None where there is none."""
    if sys.platform != "linux":
        yield None
    elif server := getattr(request.config, "workerinput", {}).get("zygote"):
        yield server
    else:
        with Zygote(os.environ, syncs=False) as own:
            yield own.socket


@pytest.fixture(scope="session")
def _forked(zygote: str | None) -> Callable[..., Ran]:
    """Run the program in a process of its own: on Linux, a fork of one that has the program's modules loaded."""
    if zygote is None:
        return _new_interpreter

    def run(*args: str, cwd: Path | None = None, stdin: str | None = None, **env: str) -> Ran:
        given = {} if stdin is None else {"input": stdin}
        done = start(zygote, args, cwd or PROJECT, environment={**os.environ, **env}, **given).outcome()
        assert not done["timed_out"], args
        return Ran(done["code"], done["out"], done["err"])

    return run


@pytest.fixture(scope="module")
def lci(_forked: Callable[..., Ran], request: pytest.FixtureRequest) -> Callable[..., Ran]:
    """Run the program: `lci("search", "x", cwd=…)`, in a process of its own or, for modules of `ASKS`, in this one.

    `process` of tests/cli/fake.py starts an interpreter.
    """
    module = request.path.relative_to(Path(__file__).parent).as_posix()
    return in_this_process if module.startswith(ASKS) else _forked


@pytest.fixture(scope="session")
def on_a_terminal(zygote: str | None) -> Callable[..., str]:
    """What the program writes to a terminal: `on_a_terminal(root, "search", "x")`."""
    return partial(terminal.on_a_terminal, zygote)


def in_this_process(*args: str, cwd: Path | None = None, stdin: str | None = None, **env: str) -> Ran:
    """Run a command as `lci_py.cli.main.run` does, without the process."""
    given, out, err = (io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in ((stdin or "").encode(), b"", b""))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        patch.chdir(cwd or PROJECT)
        for name, value in {"stdin": given, "stdout": out, "stderr": err, "argv": ["lci", *args]}.items():
            patch.setattr(sys, name, value)
        code = main(args)
    said = []
    for stream in (out, err):
        stream.flush()
        said.append(stream.detach().getvalue().decode("utf-8", "surrogateescape"))
    return Ran(code, *said)


def _new_interpreter(*args: str, cwd: Path | None = None, stdin: str | None = None, **env: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "lci_py", *args],
        cwd=cwd or PROJECT, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **env},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module", autouse=True)
def _parses_here(request: pytest.FixtureRequest) -> Iterator[None]:
    module = request.path.relative_to(Path(__file__).parent).as_posix()
    with pytest.MonkeyPatch.context() as patch:
        if not module.startswith(PARSES_APART):
            patch.setattr(worker_pool, "_FORKS", False)
        yield


@pytest.fixture(scope="session", autouse=True)
def languages() -> None:
    """All languages, compiled: the workers of a build in this process, which are its forks, need not do it again."""
    for language in load_languages():
        extract("a", b"", language)


def copy_corpus(target: Path) -> Path:
    shutil.copytree(CORPUS, target)
    (target / "README.md").write_text("# Sample\n\nA corpus of small programs.\n\n## Usage\n\nSearch it.\n")
    (target / "notes.txt").write_text("plain text notes about the warehouse\n")
    time.sleep(2e-9 * TICK_NS)  # of a file as young as the walk no time is kept: the next command would read it again
    return target


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory, languages: None) -> Path:
    """The indexed corpus. A test that changes files makes its own copy."""
    root = copy_corpus(tmp_path_factory.mktemp("corpus") / "repo")
    app.build_index(str(root), jobs=1)
    return root


@pytest.fixture(scope="session")
def session(repo: Path) -> Iterator[Engine]:
    with app.open_engine(str(repo)) as opened:
        yield opened
