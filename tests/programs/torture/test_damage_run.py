"""The short form of tests/torture/damage_run.py."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.torture import damage, damage_run
from tests.torture.damage_run import COMMANDS, Patient, judge_reading
from tests.torture.program import Program, Ran
from tests.torture.report import Report
from tests.torture.trees import rng


@pytest.fixture(scope="module")
def patient(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Patient:
    return Patient(program, tmp_path_factory.mktemp("patient"))


def test_a_damaged_index_is_refused_or_right_and_repaired(
    patient: Patient, report: Report, unknown: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Reading huge sparse files takes too long for a short form.
    monkeypatch.delitem(damage._ON_FILES, damage.grow)
    monkeypatch.delitem(damage._ON_JSON, damage.grow)
    seen = damage_run.mutations(patient, report, 5)
    assert len(seen) >= 3 and report.figures["outcome: refused"] >= 2
    assert unknown() == []


def test_damage_that_keeps_size_and_time_is_found(patient: Patient) -> None:
    patient.refresh("--full")
    largest = max((path for path in patient.index.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    before, data = largest.stat(), largest.read_bytes()
    largest.write_bytes(bytes(byte ^ 1 for byte in data))
    os.utime(largest, ns=(before.st_atime_ns, before.st_mtime_ns))
    codes = {patient.command(argv).code for argv in COMMANDS}
    patient.refresh()
    again = {patient.command(argv).code for argv in COMMANDS}
    patient.refresh("--full")
    assert 3 in codes and again == {0}


def _ran(code: int, out: str, *, err: str = "", timed_out: bool = False) -> Ran:
    return Ran(("search",), code, out, err, 0.1, timed_out, 0)


@pytest.mark.parametrize(
    ("ran", "verdict"),
    [
        (_ran(0, '{"mode":"dense","results":[1],"index":{}}'), "right"),
        (_ran(0, '{"mode":"dense","results":[2],"index":{}}'), "wrong"),
        (_ran(1, '{"mode":"dense","results":[],"index":{}}'), "wrong"),
        (_ran(0, '{"mode":"multiview","results":[2],"degraded":[{}]}'), "degraded"),
        (_ran(0, '{"mode":"dense","results":[2],"degraded":[{}]}'), "wrong"),
        (_ran(3, '{"error":{"code":"index_damaged","message":"m","hint":"h"}}'), "refused"),
        (_ran(3, ""), "crash"),
        (_ran(0, ""), "crash"),
        (_ran(-11, ""), "crash"),
        (_ran(-9, "", timed_out=True), "crash"),
        (_ran(70, '{"error":{"code":"internal","message":"m","hint":"h"}}'), "crash"),
        (_ran(1, "{}", err="Traceback (most recent call last):"), "crash"),
    ],
)
def test_verdicts(ran: Ran, verdict: str) -> None:
    assert judge_reading(ran, {"mode": "dense", "results": [1]})[0] == verdict


def test_damage_is_repeatable(patient: Patient, tmp_path: Path) -> None:
    told: list[list[str]] = []
    for _ in range(2):
        random_ = rng(7, "damage")
        told.append([])
        for number in range(20):  # each on its own copy: a file that has grown to a terabyte must not be read
            copy = tmp_path / f"{len(told)}-{number}"
            shutil.copytree(patient.index, copy)
            told[-1].append(str(damage.inflict([copy], random_)))
            shutil.rmtree(copy, ignore_errors=True)
    assert told[0] == told[1]
