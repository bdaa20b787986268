"""`pytest --workers N`: the collected tests run in N forks of this process, a module of tests at a time.

What takes long is done once, before the forks: test modules are imported and their asserts rewritten, tests are
collected, languages are loaded. Workers that are interpreters of their own would each do all of it. Linux only:
elsewhere a fork without exec is not safe, and the option is ignored.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

import pytest

#: A number of a module in the queue.
_NUMBER_BYTES = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, metavar="N", help="run the tests in N processes (Linux)")


def workers(config: pytest.Config) -> int:
    """How many are wanted; 1 where the tests run in this process."""
    return config.option.workers if sys.platform == "linux" and not config.option.collectonly else 1


def rewrite_half(session: pytest.Session) -> None:
    """On the first run, collect the second half of the modules in a fork: their rewritten asserts are kept on disk.

    This process collects all of them. Until it reaches that half, the files are there, and it need not write them.
    """
    config = session.config
    paths = sorted((config.rootpath / "tests").rglob("test_*.py"))
    whole = config.args_source is config.ArgsSource.TESTPATHS and not sys.dont_write_bytecode
    if not whole or (paths[-1].parent / "__pycache__").exists():
        return
    if os.fork() == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            session.perform_collect([str(path) for path in reversed(paths[len(paths) // 2 :])])
        finally:
            os._exit(0)


def run(session: pytest.Session, number: int) -> None:
    """Run all collected tests in that number of workers, as pytest's hook `pytest_runtestloop` does in this process.

    Raises:
        pytest.Session.Failed: As many tests have failed as `--exitfirst` or `--maxfail` allow.
    """
    modules = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
    queue, filling = os.pipe()
    for module in range(len(modules)):
        os.write(filling, module.to_bytes(_NUMBER_BYTES, "big"))
    os.close(filling)
    folder: Path = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    gc.freeze()
    team: dict[Connection, _Worker] = {}
    begun = 0

    def begin(first: Sequence[pytest.Item] = ()) -> None:
        nonlocal begun
        begun += 1
        worker = _Worker(session, modules, queue, folder / f"worker{begun}", first)
        team[worker.messages] = worker

    for _ in range(min(number, len(modules))):
        begin()
    try:
        while team:
            for connection in wait(list(team)):
                worker = team[connection]
                if not worker.receive() and (rest := team.pop(connection).rest_after_the_end()):
                    begin(rest)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
    finally:
        for worker in team.values():
            worker.kill()
        os.close(queue)


class _Worker:
    """A fork that takes modules from the queue and reports on their tests, as the process sees it that started it."""

    def __init__(
        self,
        session: pytest.Session,
        modules: list[list[pytest.Item]],
        queue: int,
        folder: Path,
        first: Sequence[pytest.Item],
    ) -> None:
        self.messages, sending = Pipe(duplex=False)
        self._session = session
        self._modules = modules
        #: What it has taken and not finished, in the order in which it runs.
        self._left = list(first)
        sys.stdout.flush()
        if (pid := os.fork()) == 0:
            _serve(session, modules, queue, folder, first, sending)
        self._pid = pid
        sending.close()

    def receive(self) -> bool:
        """Take a message of the worker; whether there was one."""
        try:
            message = self.messages.recv()
        except EOFError:
            return False
        if isinstance(message, int):
            self._left += self._modules[message]
            return True
        hook = self._session.config.hook
        report = hook.pytest_report_from_serializable(config=self._session.config, data=message)
        if report.when == "teardown":
            del self._left[0]
        hook.pytest_runtest_logreport(report=report)
        return True

    def rest_after_the_end(self) -> list[pytest.Item]:
        """What a worker that has died leaves to another. The test that it was running has failed."""
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if not self._left:
            assert code == 0, f"a worker has ended with code {code}"
            return []
        test, *rest = self._left
        report = pytest.TestReport(test.nodeid, test.location, {}, "failed", f"the worker has ended: {code}", "call")
        self._session.config.hook.pytest_runtest_logreport(report=report)
        return rest

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


# --- in the fork ----------------------------------------------------------------------------------------------------


class _Reporter:
    """Sends reports instead of printing them."""

    def __init__(self, config: pytest.Config, sending: Connection, kept: object) -> None:
        self._tw = config.get_terminal_writer()  # which pytest asks for its colours
        self._config = config
        self._sending = sending
        self._kept = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._sending.send(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def _serve(
    session: pytest.Session, modules: list[list[pytest.Item]], queue: int, folder: Path, first: Sequence[pytest.Item],
    sending: Connection,
) -> NoReturn:  # fmt: skip
    code = 1
    try:
        _detach(session.config, folder, sending)

        def take() -> list[pytest.Item]:
            if not (data := os.read(queue, _NUMBER_BYTES)):
                return []
            module = int.from_bytes(data, "big")
            sending.send(module)
            return modules[module]

        items = list(first) or take()
        while items:
            following: list[pytest.Item] = []
            for index, item in enumerate(items):
                last = index == len(items) - 1
                if last:
                    following = take()  # before it is run: fixtures that the next test needs are kept
                successor = (following[0] if following else None) if last else items[index + 1]
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=successor)
            items = following
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _detach(config: pytest.Config, folder: Path, sending: Connection) -> None:
    """Take nothing from what the process shares with the one it was forked from: temporary folder, output, terminal."""
    folder.mkdir(mode=0o700)
    factory: Any = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = folder
    plugins = config.pluginmanager
    capture: Any = plugins.getplugin("capturemanager")
    streams = capture._global_capturing  # kept open: modules have kept sys.stderr as it was while they were imported
    capture._global_capturing = None
    capture.start_global_capturing()
    capture.suspend_global_capture()
    reporter = _Reporter(config, sending, streams)
    plugins.unregister(name="terminalreporter")
    plugins.register(reporter, "terminalreporter")
