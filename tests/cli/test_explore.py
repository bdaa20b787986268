"""`lci explore` as an agent, a person and a script use it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.branch_repo import commit, init
from tests.support.graph_repo import build

POOL = '''from lib.session import Session, expired


class Pool:
    """Keeps sessions open."""

    def __init__(self):
        self.open = []

    def take(self):
        session = Session()
        self.open.append(session)
        return session

    def sweep(self):
        """Remove the sessions that have expired."""
        for session in list(self.open):
            if expired(session):
                self.open.remove(session)
                session.close()
'''
SESSION = '''class Session:
    """A connection with an age."""

    age = 0

    def close(self):
        """Say goodbye to the server."""
        self.age = -1


def expired(session):
    return session.age > 60
'''
TEST = "from lib.pool import Pool\n\n\ndef test_sweep():\n    Pool().sweep()\n"
FILLER = "".join(
    f"def paint_{color}(wall):\n    return wall.paint('{color}')\n\n\n" for color in ("red", "blue", "grey")
)
FILES = {
    "lib/__init__.py": "", "lib/pool.py": POOL, "lib/session.py": SESSION, "lib/walls.py": FILLER,
    "tests/test_pool.py": TEST,
}  # fmt: skip
QUESTION = "how are expired sessions removed"
TRACE = """Traceback (most recent call last):
  File "/srv/app/run.py", line 3, in <module>
  File "/usr/lib/app/lib/pool.py", line 20, in sweep
  File "/usr/lib/app/lib/session.py", line 8, in close
AttributeError: can't set attribute
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("explore") / "repo", FILES)


@pytest.fixture
def explore(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("explore", *argv, **{"cwd": root, **options})


def pieces(ran: Ran) -> dict[str, dict]:
    assert ran.code == 0, ran.err
    VALIDATOR.validate(answer := json.loads(ran.out))
    return {piece.get("qualified_name", piece.get("symbol")): piece for piece in answer["pieces"]}


def test_the_answer_of_a_question_is_whole(explore: Callable[..., Ran]) -> None:
    ran = explore(*QUESTION.split())
    assert ran.code == 0
    lines = ran.out.splitlines()
    shown = dict(re.findall(r"^  (\d+): ?(.*)$", ran.out.split("lib/session.py")[0], re.MULTILINE))
    assert [shown[str(number)] for number in range(15, 21)] == POOL.splitlines()[14:20]
    # What it calls comes after it, and the chain says so.
    assert "Pool.sweep > " in lines[0]
    assert lines.index("lib/pool.py") < lines.index("lib/session.py")
    assert explore(QUESTION) == ran, "words are one question, and the answer is the same each time"


def test_no_line_is_shown_twice(explore: Callable[..., Ran]) -> None:
    place, seen = "", set()
    for line in explore("how are expired sessions removed from the pool, and closed").out.splitlines():
        place = line if not line.startswith(" ") else place
        if code := re.match(r"  (\d+):", line):
            assert (place, code[1]) not in seen
            seen.add((place, code[1]))
    assert seen


@pytest.mark.parametrize("budget", [30, 60, 120, 250, 500])
@pytest.mark.parametrize("shape", ["text", "json", "markdown"])
def test_a_budget_holds(explore: Callable[..., Ran], budget: int, shape: str) -> None:
    ran = explore(QUESTION, "--max-tokens", str(budget), "--format", shape)
    assert ran.code == 0
    # One piece is shown whatever the budget, and of these forms it takes more than the smallest.
    one = len(json.loads(ran.out)["pieces"]) == 1 if shape == "json" else budget == 30 and shape == "markdown"
    assert one or len(ran.out.encode()) / 4 <= budget


def test_a_small_budget_still_names_places(explore: Callable[..., Ran]) -> None:
    out = explore(QUESTION, "--max-tokens", "90").out
    assert "lib/pool.py\n" in out and "sweep" in out and out.splitlines()[-1].startswith("…")


def test_of_a_long_definition_that_is_named_the_beginning_is_shown(lci: Callable[..., Ran], tmp_path: Path) -> None:
    """Its lines say little each: the short functions that it calls would take the budget."""
    helpers = "".join(f"def step_{n}(state):\n    return state + {n}\n\n\n" for n in range(40))
    body = "".join(f"    if state == {n}:\n        state = step_{n % 40}(state)\n" for n in range(200))
    root = build(tmp_path, {"machine.py": f"{helpers}def run_machine(state):\n{body}"})
    out = lci("explore", "run_machine", "--max-tokens", "400", cwd=root).out
    assert len(re.findall(r"^ +\d+: +if state ==", out, re.M)) >= 8
    assert "step_0" in out and "run_machine  named" in out


def test_of_a_long_definition_that_matches_best_the_lines_that_say_most_are_shown(
    lci: Callable[..., Ran], tmp_path: Path
) -> None:
    steps = "".join(f"    step_{number} = prepare(pool, {number}, 'a step of no interest')\n" for number in range(60))
    long = f"def remove_expired_sessions(pool):\n{steps}    pool.expired.remove(step_1)\n{steps}    return pool\n"
    short = "".join(f"def expired_{name}(session):\n    return session.{name}.removed\n\n\n" for name in "abcdefghij")
    root = build(tmp_path / "repo", {"lib/long.py": long, "lib/short.py": short})
    out = lci("explore", "remove expired sessions", "--max-tokens", "200", cwd=root).out
    assert "1: def remove_expired_sessions(pool):" in out and "    pool.expired.remove(step_1)" in out
    assert out.count("a step of no interest") < 5 and "…" in out


def test_roles_say_where_a_piece_comes_from(explore: Callable[..., Ran]) -> None:
    found = pieces(explore(QUESTION, "--json"))
    assert found["Pool.sweep"]["role"] == "match" and found["Pool.sweep"]["mode"] in ("dense", "bm25", "symbolic")
    assert found["Pool.sweep"]["whole"] and len(found["Pool.sweep"]["lines"]) == 6
    named = pieces(explore("lib/pool.py:20", "--json"))
    assert named["Pool.sweep"]["role"] == "named"
    close = named["Session.close"]
    assert (close["role"], close["via"], close["reason"]) == ("callee", "Pool.sweep", "called by Pool.sweep")
    assert named["test_sweep"]["role"] == "test"
    assert "paint_red" not in named, "room in a budget is no reason to show what has nothing to do with it"


def test_a_stack_trace_on_stdin(explore: Callable[..., Ran]) -> None:
    found = pieces(explore("-", "--json", stdin=TRACE))
    named = [name for name, piece in found.items() if piece["role"] == "named"]
    assert sorted(named) == ["Pool.sweep", "Session.close"]
    # The deepest frame matters most.
    assert found["Session.close"]["worth"] > found["Pool.sweep"]["worth"]


def test_a_change(explore: Callable[..., Ran], lci: Callable[..., Ran], tmp_path: Path) -> None:
    root = init(tmp_path / "repo", {**FILES, ".gitignore": ".lci/\n"})
    lci("index", cwd=root)
    path = root / "lib" / "session.py"
    path.write_text(SESSION.replace("> 60", "> 90"))
    found = pieces(lci("explore", "--diff", "--json", cwd=root))
    assert found["expired"]["role"] == "changed" and found["expired"]["whole"]
    assert "return session.age > 90" in found["expired"]["lines"][-1][1]
    assert found["Pool.sweep"]["role"] == "caller" and found["test_sweep"]["role"] == "test"
    commit(root, {})
    assert lci("explore", "--diff", "--json", cwd=root).code == 1
    assert "expired" in pieces(lci("explore", "--diff", "HEAD~1", "--json", cwd=root))


def test_an_offset_leaves_out_what_was_shown(explore: Callable[..., Ran]) -> None:
    first = pieces(explore(QUESTION, "--json", "--max-tokens", "400"))
    following = pieces(explore(QUESTION, "--json", "--max-tokens", "400", "--offset", str(len(first))))
    assert first and following and first.keys().isdisjoint(following)


def test_a_question_about_something_else_is_said_before_what_is_nearest(explore: Callable[..., Ran]) -> None:
    asked = "which interrupt handler wakes the network card"
    lines = explore(asked).out.splitlines()
    assert lines[0].startswith(f"⚠ low confidence: nothing here seems to be about '{asked}'") and len(lines) > 3
    assert explore(asked, "--json").json()["confidence"]["level"] == "low"
    assert explore(QUESTION, "--json").json()["confidence"]["level"] == "high"
    assert explore("lib/pool.py:20", "--json").json()["confidence"]["level"] == "high"


def test_filters_hold_for_every_piece(explore: Callable[..., Ran]) -> None:
    found = pieces(explore("lib/pool.py:20", QUESTION, "--path", "lib/pool.py", "--json"))
    assert {piece["file"] for piece in found.values()} == {"lib/pool.py"}
    assert {piece["kind"] for piece in pieces(explore(QUESTION, "--kind", "function", "--json")).values()} == {
        "function"
    }


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "the question is missing"),
        (("",), "the question is missing"),
        (("--diff", "HEAD", "HEAD~1"), "--diff takes one revision"),
        (("x", "--kind", "nonesuch"), "unknown kind"),
        (("x", "--max-tokens", "0"), "--max-tokens must be at least 1"),
    ],
)
def test_errors(explore: Callable[..., Ran], argv: tuple[str, ...], said: str) -> None:
    ran = explore(*argv)
    assert ran.code == 2 and said in ran.err and "Traceback" not in ran.err


def test_a_batch_and_paths(explore: Callable[..., Ran]) -> None:
    lines = f'{QUESTION}\n{{"command": "explore", "questions": "lib/pool.py:20", "max_tokens": 400}}\n'
    ran = explore("--batch", "-", stdin=lines)
    first, second = map(json.loads, ran.out.splitlines())
    assert (
        first["pieces"]
        and "lib/pool.py" in {piece["file"] for piece in second["pieces"]}
        and second["max_tokens"] == 400
    )
    assert "lib/pool.py:15" in explore(QUESTION, "--paths").out.splitlines()


def test_a_pasted_message_is_answered_by_who_states_it_and_on_which_condition(
    lci: Callable[..., Ran], tmp_path: Path
) -> None:
    """Whatever else is about the same words: the literal, the constant that holds it, and the lines that use that."""
    many = "".join(
        f"def take_{i}(pool):\n    '''Take {i} of the free pool slots.'''\n    return pool[{i}]\n\n\n" for i in range(9)
    )
    root = build(
        tmp_path / "repo",
        {
            "pool.py": 'FULL = "no free slots in the pool"\n\n\n'
            "def give(pool):\n    size = len(pool)\n    if size > 9:\n        raise ValueError(FULL)\n    return size\n",
            "stop.py": 'def _say():\n    print("nothing was taken from the pool")\n\n\n'
            "def stop(pool):\n    used = pool.used\n    if not used:\n        _say()\n",
            "more.py": many,
            "notes.py": 'def note():\n    """Slots that are free in the pool come first."""\n    return 1\n',
        },
    )  # fmt: skip
    constant = lci("explore", "ValueError: no free slots in the pool", cwd=root).out
    assert 'FULL = "no free slots in the pool"' in constant and "if size > 9:" in constant and "more.py" not in constant
    called = lci("explore", "nothing was taken from the pool", cwd=root).out
    assert "def _say():" in called and "  7:     if not used:" in called and "more.py" not in called
    no_message = ("explore", "slots that are free in the pool come first")
    assert "more.py" in lci(*no_message, "--max-tokens", "9000", cwd=root).out
    # What hardly belongs there is left out, though the budget has room for it; it is said, and comes when asked for.
    short = lci(*no_message, cwd=root).out
    assert "more.py" not in short and "10 left out" in short
    assert "more.py" in lci(*no_message, "--offset", "1", cwd=root).out
    (root / "run.py").write_text("import pool\n\nprint('ready to hand out whatever is there')\n")
    assert ".py" in lci("explore", "ready to hand out whatever is there", cwd=root).out, "stated outside of definitions"
