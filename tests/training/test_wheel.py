"""The training runs from a checkout: a wheel holds the program only."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).resolve().parents[2]


def test_the_wheel_has_the_package_without_the_training() -> None:
    with (PROJECT / "pyproject.toml").open("rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["lci_py"]
    assert wheel["exclude"] == ["/lci_py/training"]
    assert (PROJECT / "lci_py" / "training").is_dir()
    assert wheel["force-include"] == {"grammars": "lci_py/grammars"}
