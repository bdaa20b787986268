"""`--format dot|mermaid|svg|html` as its users run it; the page also in a browser, where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ran
from tests.support.graph_repo import build

Lci = Callable[..., Ran]
#: The name of the program of Chromium or Chrome, if there is one.
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "<img src=x onerror=document.title='owned'>"
FILES = {
    "web/pool.js": (
        "export function lend(pool) {\n  // </script><script>document.title='owned'</script> <!--\n"
        "  return check(pool);\n}\nfunction check(pool) { return pool; }\n"
    ),
    f"web/{HOSTILE}.js": 'import { lend } from "./pool";\nexport function tour(pool) { return lend(pool); }\n',
    "web/twice.py": "def same():\n    return 1\n\n\ndef same():\n    return 2\n",
    'web/]]"|`\\;{{data}}.py': "def odd():\n    return same()\n\n\ndef same():\n    return 3\n",
}
COMMANDS = (
    ("callers", "lend"), ("callees", "lend"), ("tree", "tour"), ("path", "tour", "check"), ("affected", "check"),
    ("outline", "web"), ("outline", "web/pool.js"), ("conflicts",),
)  # fmt: skip
LABELS = {
    "callers": {"lend", "tour"},
    "callees": {"lend", "check"},
    "tree": {"tour", "lend", "check"},
    "path": {"tour", "lend", "check"},
    "affected": {"check", "lend", "tour"},
    "conflicts": {"same"},
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("pictures") / "repo", FILES)


def page_data(page: str) -> dict[str, Any]:
    found = re.search(r'(?s)<script type="application/json" id="data">(.*?)</script>', page)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_every_command_draws_what_it_answers(lci: Lci, root: Path, args: tuple[str, ...]) -> None:
    page = lci(*args, "--format", "html", "--root", str(root), cwd=root)
    assert (page.code, page.err) == (0, "")
    data = page_data(page.out)
    labels = {node["label"] for node in data["nodes"]} - {""}
    assert labels == LABELS.get(args[0], labels) and data["links"]
    assert all(data["colours"][link["step"]] for link in data["links"])
    dot = lci(*args, "--format", "dot", "--root", str(root), cwd=root).out
    mermaid = lci(*args, "--format", "mermaid", "--root", str(root), cwd=root).out
    assert dot.startswith("digraph") and mermaid.startswith("flowchart LR\n")
    # A label is one text: nothing that the repository says ends it.
    for line in dot.splitlines():
        assert line.replace("\\\\", "").replace('\\"', "").count('"') % 2 == 0, line
    for line in mermaid.splitlines():
        assert re.fullmatch(r'flowchart LR|  n\w+\["[^"<>`|]*(<br/>[^"<>`|]*)?"\]|  n\d+ (-->|-\.->)(\|[\w-]+\|)? n\d+'
                            r"|  linkStyle [\d,]+ stroke:#\w+|  style [n\d,]+ stroke-width:3px", line), line  # fmt: skip


def test_a_map_has_the_calls_between_files(lci: Lci, root: Path) -> None:
    out = lci("outline", "web", "--format", "mermaid", "--root", str(root), cwd=root).out
    (one, other) = re.findall(r"  (n\d+)\[.*pool\.js", out) + re.findall(r"  (n\d+)\[.*onerror", out)
    assert f"  {other} -->|import| {one}\n" in out
    data = page_data(lci("outline", "web", "--format", "html", "--root", str(root), cwd=root).out)
    contained = [link for link in data["links"] if link["step"] == "contains"]
    assert {data["nodes"][link["source"]]["kind"] for link in contained} == {"file"}
    (lend,) = [node for node in data["nodes"] if node["label"] == "lend"]
    assert lend["code"][0] == "export function lend(pool) {" and len(lend["code"]) == 4


def test_a_page_holds_code_as_data_and_links_to_the_editor(lci: Lci, root: Path) -> None:
    ran = lci("callees", "lend", "--format", "html", "--root", str(root), LCI_HYPERLINK="vscode://file{path}:{line}")
    assert "</script><script>" not in ran.out.replace("</script>\n<script>", "") and "<!--" not in ran.out
    (asked,) = [node for node in page_data(ran.out)["nodes"] if node["role"] == "asked"]
    assert asked["open"] == f"vscode://file{root}/web/pool.js:1"
    assert "document.title='owned'" in asked["code"][1]
    assert not re.search(r"(?:src|href)=[\"'](?:https?:)?//", ran.out)


def test_what_is_left_out_is_said_in_the_picture(lci: Lci, root: Path) -> None:
    ran = lci("tree", "tour", "--max-nodes", "1", "--format", "html", "--root", str(root))
    assert "1 left out" in page_data(ran.out)["note"]


def test_svg_needs_graphviz_and_says_so(lci: Lci, root: Path) -> None:
    ran = lci("tree", "tour", "--format", "svg", "--root", str(root), PATH="/nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "Graphviz" in ran.err and "--format html" in ran.err


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_graphviz_draws_it(lci: Lci, root: Path, args: tuple[str, ...]) -> None:
    ran = lci(*args, "--format", "svg", "--root", str(root), cwd=root)
    assert ran.code == 0 and ran.out.rstrip().endswith("</svg>") and "<img" not in ran.out


# --- in a browser -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright, which no other test needs and nothing here installs."""
    driver = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("there is no Chromium")
    with driver.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Any, lci: Lci, root: Path, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the page of a command; at the end it has asked for nothing else, and no script has failed."""
    problems: list[str] = []
    pages = []

    def open_page(*args: str) -> Any:
        file = tmp_path / "page.html"
        file.write_text(lci(*args, "--format", "html", "--root", str(root), cwd=root).out)
        page = browser.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text))
        page.on("request", lambda asked: problems.append(asked.url) if asked.url != file.as_uri() else None)
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        assert page.title().startswith("lci ")
        page.close()
    assert problems == []


def box(page: Any, label: str) -> Any:
    return page.locator("#view .box").filter(has=page.locator("text", has_text=re.compile(f"^{label}$")))


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_the_page_draws_boxes_and_arrows(opened: Callable[..., Any], args: tuple[str, ...]) -> None:
    page = opened(*args)
    assert page.locator("#view .box").count() >= 2
    assert page.locator("#view .arrow").count() >= (0 if "web/pool.js" in args else 1)
    assert page.locator("img").count() == 0


def test_a_click_shows_the_code_and_the_calls_lead_on(opened: Callable[..., Any]) -> None:
    page = opened("tree", "tour")
    box(page, "lend").click()
    assert "</script><script>document.title='owned'</script> <!--" in page.locator("#side pre").inner_text()
    assert page.locator("#open").get_attribute("href").endswith("/web/pool.js")
    page.locator("#side button", has_text="tour").click()
    assert page.locator("#side h2").inner_text() == "tour"
    assert page.locator("#open").inner_text() == f"web/{HOSTILE}.js:2"


def test_folding_searching_and_hiding(opened: Callable[..., Any]) -> None:
    page = opened("tree", "tour")
    box(page, "lend").dblclick()
    assert box(page, "check").count() == 0 and box(page, r"lend \[\+\]").count() == 1
    page.fill("#find", "check")
    page.press("#find", "Enter")
    assert page.locator("#side h2").inner_text() == "check"
    page.keyboard.press("Escape")
    assert page.locator("#side h2").count() == 0
    page.click("#files")
    assert page.locator("#view .box").count() == 2
    page.click("#files")
    before = page.locator("#view .arrow").count()
    page.locator("#legend input").first.click()
    assert page.locator("#view .arrow").count() < before


def test_two_thousand_places_stay_usable(browser: Any, tmp_path: Path) -> None:
    from lci_py.render.diagrams import write
    from lci_py.render.picture import Node, Picture
    from lci_py.types.graph import Link

    nodes = [
        Node(str(i), f"call{i}", "function", f"file{i % 40}.py", i + 1, role="" if i else "asked") for i in range(2000)
    ]
    links = [Link(str(i // 7), str(i), (i,), "import", 0.9, False) for i in range(1, 2000)]
    links += [Link(str(i), str(i // 3), (i,), "flow", 0.5, True) for i in range(5, 2000, 2)]
    text = write(Picture("tree call0", tuple(nodes), tuple(links)), "html", lambda *_: ["pass"], lambda *_: "")
    (tmp_path / "large.html").write_text(text)
    page = browser.new_page()
    page.goto((tmp_path / "large.html").as_uri())
    assert page.locator("#view .box").count() < 300  # by file, at first
    page.click("#files")
    page.fill("#find", "call1999")
    page.press("#find", "Enter")
    assert page.locator("#side h2").inner_text() == "call1999"
    assert page.locator("#view .box").count() == 2000
    page.close()


def test_the_program_of_a_browser_is_not_needed_to_make_a_page() -> None:
    """The script and the style are allowed by their digests; a change of one that forgets the other shows here."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    from importlib import resources

    page = resources.files("lci_py.render").joinpath("picture.html").read_text("utf-8")
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    subprocess.run([node, "--check", "-"], input=script.encode(), check=True, capture_output=True)
