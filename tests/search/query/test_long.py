"""A long question is read by its parts, and nothing in it is required."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py.search.query.long import is_long, read_long
from lci_py.search.query.plan import plan
from lci_py.search.query.text import read_fields, read_text
from lci_py.types.search import Filters
from tests.conftest import Ran
from tests.support.properties import examples

ISSUE = """Trailing space in the header of `format_report`
<!-- Please search for duplicates first. -->

### Steps to reproduce

When a report is printed with "no rows at all", the header ends in a space. See https://example.org/docs/widget.html.

```python
import shop
shop.cashier.open_drawer()
```

Traceback (most recent call last):
  File "/home/me/app/main.py", line 3, in <module>
  File "/usr/lib/python3/site-packages/shop/render/header.py", line 12, in head
ValueError: kind:banner is not known

The culprit may be shop.render.rows, or rows.py.

python: 3.11.7
numpy: 1.26.0
"""


def test_its_parts_weigh_differently() -> None:
    found = read_long(ISSUE)
    weights = dict(found.terms)
    assert weights["header"] > weights["print"] > weights["drawer"] > 0
    assert weights["formatreport"] > weights["row"]
    assert not {"numpy", "duplicat", "widget", "reproduc"} & weights.keys()
    assert found.words[:2] == ("Trailing", "space") and "format_report" in found.names
    assert found.text.count("Trailing space") == 3 and "cashier" not in found.text  # but open_drawer, a name


def test_what_names_files() -> None:
    files = dict(read_long(ISSUE).files)
    near, far = files["/usr/lib/python3/site-packages/shop/render/header.py"], files["/home/me/app/main.py"]
    assert near == 1.0 > far > files["shop.render.rows"] == 0.5
    assert files["rows.py"] == 0.6


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("how is a file opened", False),
        ('"a phrase of a short line" in path:src', False),
        ("a title\nand a body", True),
        ("word " * 31, True),
        ("one line with a break at its end\n", False),
    ],
)
def test_what_is_long(text: str, long: bool) -> None:
    assert is_long(text) is long
    assert read_text(text).long is long


def test_quotes_and_colons_of_a_long_question_are_its_own() -> None:
    query = read_text(ISSUE)
    assert query.phrases == ()
    assert read_fields(ISSUE, Filters()) == (ISSUE, Filters())
    assert read_text('"no rows at all"').phrases == ("no rows at all",)


@examples(60)
@given(st.text(max_size=400), st.integers(1, 200))
def test_every_text_can_be_read_and_is_bounded(text: str, times: int) -> None:
    found = read_long(f"{text}\n" * times)
    assert len(found.terms) <= 160 and len(found.names) <= 40 and len(found.words) <= 80
    assert all(weight > 0 for _, weight in found.terms)


@pytest.mark.parametrize("unit", ["a", " ", "1", "-", "(", "a.b-", "a/", "{ ", "at ", "`", "**a", "<!--", 'File "a'])
def test_the_time_does_not_explode_with_a_hostile_text(unit: str) -> None:
    """Patterns that backtrack would take hours for these."""
    found = read_long(f"title of it\n{(unit * 60_000)[:55_000]}x\n{(unit * 100 + chr(10)) * 20}")
    assert found.words[0] == "title" and len(found.terms) <= 160


def test_an_issue_finds_the_file_that_it_names(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    for name, text in {
        "shop/render/header.py": "def head(kind):\n    raise ValueError(kind)\n",
        "shop/cashier.py": "def open_drawer():\n    return 'drawer', 'header', 'space', 'report'\n",
        "other/header.py": "def head(kind):\n    raise ValueError(kind)\n",
        "tests/test_report.py": "def test_header():\n    assert format_report('no rows at all') == 'header '\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert lci("index", cwd=tmp_path).code == 0
    for mode in ("multiview", "bm25", "dense"):
        ran = lci("search", ISSUE, "--mode", mode, "--json", cwd=tmp_path)
        assert ran.json()["results"][0]["file"] == "shop/render/header.py", mode
    plan = lci("search", ISSUE, "--mode", "multiview", "--json", "--explain", cwd=tmp_path).json()["plan"]
    assert plan["relaxed"] == ["a long question: its quotes are words like others"]


def test_a_long_question_has_weights_of_its_own() -> None:
    long, short = plan(read_text(ISSUE), Filters()), plan(read_text("how a session of the pool is closed"), Filters())
    assert long.saturation > short.saturation  # what is to be mended is often two functions of one file
    assert short.weights["symbol"] and not long.weights["symbol"]
    assert long.weights["dense"] == short.weights["dense"]
