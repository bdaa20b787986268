"""What `make test` installs: tests/requirements.txt has everything that pyproject.toml asks for, with hashes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).resolve().parent.parent
DECLARED = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
#: Each pinned requirement, and its hashes.
LOCKED = [
    (Requirement(entry.partition("\\")[0].strip()), entry.count("--hash=sha256:"))
    for entry in re.split(r"\n(?=\S)", (PROJECT / "tests" / "requirements.txt").read_text("utf-8"))
]
EXTRAS = {name: found for name, found in DECLARED["project"]["optional-dependencies"].items() if name != "training"}
WANTED = [
    Requirement(text)
    for texts in (DECLARED["project"]["dependencies"], DECLARED["build-system"]["requires"], *EXTRAS.values())
    for text in texts
    if not text.startswith("lci-py[")
]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12"])
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_what_is_declared_is_locked(python: str, machine: str) -> None:
    where = {
        "python_version": python, "python_full_version": f"{python}.9", "platform_machine": machine,
        "sys_platform": "linux", "os_name": "posix", "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }  # fmt: skip
    pinned: dict[str, str] = {}
    for entry, hashes in LOCKED:
        if entry.marker is None or entry.marker.evaluate(where):
            assert hashes and canonicalize_name(entry.name) not in pinned, entry
            [pin] = entry.specifier
            assert pin.operator == "=="
            pinned[canonicalize_name(entry.name)] = pin.version
    for wanted in WANTED:
        if wanted.marker is None or wanted.marker.evaluate(where):
            assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)]), f"{wanted}: run `make lock`"


def test_every_dependency_has_an_upper_bound_and_a_licence() -> None:
    page = (PROJECT / "docs" / "licences.md").read_text("utf-8")
    for text in DECLARED["project"]["dependencies"]:
        wanted = Requirement(text)
        assert any(bound.operator == "<" for bound in wanted.specifier), f"{wanted} has no upper bound"
        assert f"| `{wanted.name}` |" in page, f"docs/licences.md lacks {wanted.name}"
