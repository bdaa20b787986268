"""A definition leads that a query names by a call, by its file or module, by a place, or with a typing error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lci_py import app
from lci_py.index.shards.symbols import qualifies
from lci_py.search.engine import Engine
from lci_py.search.query.text import read_text
from lci_py.search.ranking.partial_names import frames_of, literals_of, partial_names, places
from lci_py.types.search import Filters, SearchRequest

RANKED = ("dense", "bm25", "multiview")
FILES = {
    "net/client.py": """class ClientSession:
    def close(self, force=False):
        self.pool.release(self.connection, timeout=1)

    def open_connection(self, host, port):
        return self.pool.acquire(host, port)
""",
    "net/pool.py": """class ConnectionPool:
    def release(self, connection, timeout):
        self.idle.append(connection)

    def acquire(self, host, port):
        return self.idle.pop()

    def close(self):
        self.idle.clear()
""",
    "net/server.py": """class ServerSession:
    def close(self):
        self.listening = False


def close(session, reason, *, retry=None):
    session.listening = reason
""",
    "net/options.py": """OPTIONS = {}


def register():
    OPTIONS["max-idle-time"] = 30
    OPTIONS["tcp-keepalive"] = 300


def check(name, value):
    # max-idle-time is compared with max-idle-time-limit here, and max idle time again
    return value < 10
""",
    "tests/test_options.py": """def test_options():
    assert OPTIONS["tcp-keepalive"] == 300
    assert OPTIONS["max-idle-time"] == 30
""",
    "docs/options.md": "# Options\n\nSet `max-idle-time` or `tcp-keepalive` in the file.\n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("asked")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as opened:
        yield opened


def first(session: Engine, mode: str, query: str) -> str:
    found = session.search(SearchRequest(query, mode, 5)).results[0]  # type: ignore[arg-type]
    return f"{found.file}:{found.line}"


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize(
    "query, place",
    [
        ("self.pool.release(self.connection, timeout=1)", "net/pool.py:2"),
        ("pool.release(conn)", "net/pool.py:2"),
        ("client.py close", "net/client.py:2"),
        ("net/server.py:close", "net/server.py:6"),
        ("net.pool.ConnectionPool.close", "net/pool.py:8"),
        ("ServerSession#close", "net/server.py:2"),
        ("ServerSession.prototype.close", "net/server.py:2"),
        ("(*ConnectionPool).close", "net/pool.py:8"),
        ("pool.close idle", "net/pool.py:8"),
        ("net/client.py:6", "net/client.py:5"),
        ("/srv/app/net/pool.py:3 +0x1a5", "net/pool.py:2"),
        ('File "/srv/net/pool.py", line 6, in acquire', "net/pool.py:5"),
        ("ConectionPool", "net/pool.py:1"),
        ("open_conection", "net/client.py:5"),
        ("opn conn", "net/client.py:5"),
        ("(session, reason, *, retry=None)", "net/server.py:6"),
        ("def(self, host, port)", "net/client.py:5"),
        ("max-idle-time", "net/options.py:4"),
        ("tcp-keepalive", "net/options.py:4"),
    ],
)
def test_what_is_named_leads(session: Engine, mode: str, query: str, place: str) -> None:
    assert first(session, mode, query.replace("\\\n", "\n")) == place


@pytest.mark.parametrize(
    "query, called",
    [("pool.acquire(host, port, timeout)", True), ("Never call pool.acquire() while it is full!", False)],
)
def test_a_call_in_a_sentence_is_no_line_of_code(session: Engine, query: str, called: bool) -> None:
    asked = partial_names(session.snapshot, read_text(query), Filters(), whole=False)
    assert asked.called == called and asked.names[0].row["symbol"] == "acquire"


TRACES = {
    "go": (
        "goroutine 1 [running]:\nnet.(*ConnectionPool).acquire(0xc0001)\n\t/src/net/pool.py:200 +0x1a5\n"
        "net.(*ClientSession).open_connection(...)\n\t/src/net/client.py:6 +0x2b",
        "net/pool.py:5",
    ),
    "rust": ("   4: net::pool::ConnectionPool::close::{{closure}}\n             at ./net/pool.py:4:9", "net/pool.py:8"),
    "java": (
        "java.lang.IllegalStateException: closed\n\tat net.ClientSession.close(client.py:3)\n"
        "Caused by: java.io.IOException: broken\n\tat net.ConnectionPool.release(pool.py:3)",
        "net/pool.py:2",
    ),
    "javascript": (
        "TypeError: no x\n    at async Pool.acquire [as take] (file:///app/net/pool.py:1:2)",
        "net/pool.py:5",
    ),
    "firefox": ("TypeError: no x\nregister@http://localhost:5173/net/options.py:99:2", "net/options.py:4"),
    "python": (
        'Traceback (most recent call last):\n  File "/app/net/client.py", line 3, in close\n    self.pool.release()\n'
        '  File "/app/net/pool.py", line 77, in release\n    raise ValueError\nValueError',
        "net/pool.py:2",
    ),
    "gdb": (
        "#0  0x0001 in check (name=0x1, value=3) at net/options.py:1\n#1  main () at net/client.py:1",
        "net/options.py:9",
    ),
    "ruby": ("net/pool.py:1:in `block in release'\nnet/client.py:3:in `close'", "net/pool.py:2"),
    "php": ("#0 /var/www/net/pool.py(1): Net\\Pool->release(1)\n#1 {main}", "net/pool.py:2"),
    "kernel": ("RIP: 0010:open_connection+0x1b/0x40\n Call Trace:\n  close_all+0x2/0x10", "net/client.py:5"),
}


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("kind", TRACES)
def test_the_deepest_frame_of_the_repository_leads(session: Engine, mode: str, kind: str) -> None:
    trace, place = TRACES[kind]
    elsewhere = "    at Object.<anonymous> (/usr/lib/other/base.py:3:4)\n"
    issue = f"The server stops when a session is closed twice\n\nIt happens each time.\n\n{elsewhere}{trace}\n"
    assert first(session, mode, issue) == place
    assert first(session, mode, trace) == place


def test_a_file_name_without_folder_and_function_is_no_place_in_a_long_question(session: Engine) -> None:
    text = "My own pool.py:6 shows it"
    assert not list(places(session.snapshot, text, Filters(), certain=True))
    assert [place.row["line"] for place in places(session.snapshot, text, Filters(), certain=False)] == [5]


@pytest.mark.parametrize(
    "evil",
    ["a" * 60_000, "a.b:1 " * 10_000, "\\/" * 30_000, "a.b(" * 15_000, "x.py:1: " + "a" * 59_000, "::{{" * 15_000],
)
def test_frames_of_any_text_are_read_in_linear_time(evil: str) -> None:
    assert len(frames_of(evil)) < 1_000


@pytest.mark.parametrize(
    "name, file, qualified, length",
    [
        ("ignore gitignore Gitignore new", "crates/ignore/src/gitignore.rs", "Gitignore.new", 4),
        ("hc lib emails alert", "hc/lib/emails.py", "alert", 4),
        ("emails alert", "hc/lib/emails.py", "alert", 2),
        ("app lib emails alert", "lib/emails.py", "alert", 3),  # the package is the root itself
        ("emails alert", "hc/lib/sms.py", "alert", 0),
        ("hc alert", "hc/lib/emails.py", "alert", 0),  # nothing stands beside the name
        ("pkg mod Func", "pkg/mod/__init__.py", "Func", 3),
    ],
)
def test_modules_and_scopes_before_a_name(name: str, file: str, qualified: str, length: int) -> None:
    assert qualifies(name.split(), file, qualified) == length


@pytest.mark.parametrize(
    "query, literals",
    [
        ("--max-columns-preview", ["--max-columns-preview"]),
        ("where is the `X-Forwarded-For` header read?", []),  # a question
        ("`X-Forwarded-For`", ["x-forwarded-for"]),
        ("server-side middleware", []),
        ("GET /api/v3/checks/", ["/api/v3/checks/"]),
        ("JoinSet spawn", []),
    ],
)
def test_words_with_punctuation_are_literals(query: str, literals: list[str]) -> None:
    assert literals_of(read_text(query)) == literals
