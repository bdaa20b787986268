"""SARIF 2.1.0: what the standard requires of a log, and what code scanning needs."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given, strategies as st

from lci_py import __version__
from lci_py.render.json.sarif import MAX_RESULTS, sarif
from lci_py.types.conflicts import Conflict, ConflictsAnswer
from lci_py.types.record import replace
from lci_py.types.search import CONFLICT_TYPES, RELATIONS, DefinitionSite
from tests.render.text.test_conflicts import GONE, INDEX, MANY, OPEN, TIMEOUT, TWICE, answer
from tests.render.text.test_results import FORBIDDEN

LEVELS = {"none", "note", "warning", "error"}
# RFC 3986, a relative reference without a scheme: no segment before the first slash may hold a colon.
URI = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+")


def read(found: ConflictsAnswer) -> dict[str, Any]:
    log = json.loads(sarif(found))
    check(log)
    return log["runs"][0]


def check(log: dict[str, Any]) -> None:
    """Check the keys of the objects used here against those that the schema of SARIF 2.1.0 requires and allows."""
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    [run] = log["runs"]
    assert set(run) == {"tool", "automationDetails", "originalUriBaseIds", "invocations", "results"}
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("lci-py", __version__)
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert set(rule) == {
            *("id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"),
        }
        assert rule["defaultConfiguration"]["level"] in LEVELS
        assert all(rule[key]["text"].endswith(".") for key in ("shortDescription", "fullDescription", "help"))
    assert all({"executionSuccessful"} <= set(item) for item in run["invocations"])
    for result in run["results"]:
        needed = {"ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"}
        assert needed <= set(result) <= needed | {"relatedLocations"}
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in LEVELS and result["message"]["text"]
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
        assert len(result["locations"]) <= 1 and all(
            set(place) == {"physicalLocation"} for place in result["locations"]
        )
        related = result.get("relatedLocations", [])
        assert [place["id"] for place in related] == list(range(1, len(related) + 1))
        for place in [*result["locations"], *related]:
            where = place["physicalLocation"]
            assert set(where) == {"artifactLocation", "region"}
            assert set(where["artifactLocation"]) == {"uri", "uriBaseId"}
            assert where["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
            assert URI.fullmatch(where["artifactLocation"]["uri"])
            assert where["region"]["startLine"] >= 1


def places(result: dict[str, Any]) -> list[str]:
    found = [*result["locations"], *result.get("relatedLocations", [])]
    return [
        f"{p['physicalLocation']['artifactLocation']['uri']}:{p['physicalLocation']['region']['startLine']}"
        for p in found
    ]


def test_results() -> None:
    run = read(answer(GONE, OPEN, TWICE, MANY, conflicts=(TIMEOUT,)))
    gone, opened, twice, many, timeout = run["results"]
    assert [r["ruleId"] for r in run["results"]] == ["branch", "overlap", "duplicate", "variant", "numeric-mismatch"]
    assert [r["level"] for r in run["results"]] == ["note", "warning", "warning", "note", "warning"]
    # A service shows the result at the active definition.
    assert places(opened) == ["net/open.go:12", "net/open_cgo.go:140", "net/open_windows.go:14"]
    assert places(twice) == ["a.py:9", "a.py:3"]
    assert places(many)[0] == "os/f17.c:17" and len(places(many)) == 20
    assert places(timeout) == ["src/config.py:12", "README.md:40"]
    assert opened["message"]["text"] == (
        "function net.open has 3 definitions: overlap. Two definitions of one symbol can hold at once."
    )
    assert [p["message"]["text"] for p in opened["relatedLocations"]] == [
        f"overlap: defined when {OPEN.definitions[1].build_tag}",
        "variant: defined when windows",
    ]
    assert gone["message"]["text"] == "function seal has 1 definition: branch. None on main."
    assert timeout["message"]["text"] == f"{TIMEOUT['reasoning']} Recommended: prefer-authoritative."


def test_every_relation_and_conflict_type_is_a_rule() -> None:
    rules = [rule["id"] for rule in read(answer())["tool"]["driver"]["rules"]]
    assert rules == [*RELATIONS, *CONFLICT_TYPES]
    assert read(answer())["results"] == []


def test_a_long_list_is_cut_and_the_log_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub shows 5,000 results and 100 places of each, and rejects a log of more than 25,000."""
    assert MAX_RESULTS == 5000
    few = 50
    monkeypatch.setattr("lci_py.render.json.sarif.MAX_RESULTS", few)
    long = replace(MANY, definitions=MANY.definitions * 20)
    run = read(replace(answer(*[long] * (few + 3), conflicts=(TIMEOUT,) * 2), total=few + 3))
    assert len(run["results"]) == few
    assert [r["ruleId"] for r in run["results"][-2:]] == ["numeric-mismatch"] * 2
    assert all(len(places(result)) <= 100 for result in run["results"])
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "5 conflicts of less weight left out of this log."
    whole = read(answer(MANY))["invocations"]
    assert whole == [{"executionSuccessful": True}]


def test_what_a_limit_leaves_out_is_said() -> None:
    [found] = read(replace(answer(MANY), total=3))["invocations"]
    assert "2 conflicts" in found["toolExecutionNotifications"][0]["message"]["text"]


def fingerprints(*found: Conflict, **changes: Any) -> list[str]:
    return [r["partialFingerprints"]["lciConflict/v1"] for r in read(answer(*found, **changes))["results"]]


def test_a_fingerprint_survives_when_lines_move() -> None:
    moved = replace(OPEN, definitions=tuple(replace(s, line=s.line + 7) for s in OPEN.definitions))
    elsewhere = replace(OPEN, definitions=tuple(replace(s, active=False) for s in OPEN.definitions))
    assert fingerprints(OPEN) == fingerprints(moved) == fingerprints(elsewhere)
    lower = {
        **TIMEOUT,
        "sources": ["src/config.py:19", "README.md:4"],
        "reasoning": TIMEOUT["reasoning"].replace(":12", ":19").replace(":40", ":4"),
    }
    assert fingerprints(conflicts=(TIMEOUT,)) == fingerprints(conflicts=(lower,))


@pytest.mark.parametrize(
    "other",
    [
        replace(OPEN, qualified_name="net.Open"),
        replace(OPEN, relation="variant"),
        replace(OPEN, definitions=OPEN.definitions[:2]),
        replace(OPEN, definitions=(replace(OPEN.definitions[0], build_tag="darwin"), *OPEN.definitions[1:])),
        replace(OPEN, definitions=(replace(OPEN.definitions[0], file="net/b.go"), *OPEN.definitions[1:])),
    ],
)
def test_a_fingerprint_tells_conflicts_apart(other: Conflict) -> None:
    assert fingerprints(OPEN) != fingerprints(other)


def test_two_conflicts_of_one_kind_have_two_fingerprints() -> None:
    first, second = fingerprints(TWICE, TWICE)
    assert first != second
    assert first.removesuffix(":1") == second.removesuffix(":2")


def test_paths_are_encoded() -> None:
    names = ["a b/c:d.py", "dir/%41?#.py", "caf\udce9/\u00e9.py", "c:x.py"]
    sites = tuple(DefinitionSite(name, 1, None, None, "duplicate") for name in names)
    [result] = read(answer(replace(TWICE, definitions=sites)))["results"]
    found = [place.removesuffix(":1") for place in places(result)]
    assert [unquote_to_bytes(uri) for uri in found] == [name.encode("utf-8", "surrogateescape") for name in names]


def test_a_condition_makes_no_link() -> None:
    sites = tuple(replace(site, build_tag="[here](1)") for site in OPEN.definitions)
    [result] = read(answer(replace(OPEN, definitions=sites)))["results"]
    assert result["relatedLocations"][0]["message"]["text"] == "overlap: defined when [here] (1)"


text = st.text(st.characters() | st.sampled_from("[]()\x1b\n\udcff"), min_size=1, max_size=12)


@given(text, st.sampled_from(RELATIONS), st.sampled_from(CONFLICT_TYPES), st.booleans())
def test_any_text_makes_a_log(value: str, relation: str, kind: str, active: bool) -> None:
    site = DefinitionSite(value, 3, value, value, relation, active)
    evil = Conflict(value, value, value, value, relation, (site, site), missing_on=(value,))
    said = {
        "conflict_type": kind,
        "recommended_resolution": value,
        "sources": [value, f"{value}:3"],
        "reasoning": value,
    }
    found = replace(answer(evil, conflicts=(said,)), index=replace(INDEX, branch=None))
    assert not re.search(FORBIDDEN, sarif(found))
    for result in read(found)["results"]:
        assert "](" not in result["message"]["text"]  # would be a link
