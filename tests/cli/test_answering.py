"""Every command that answers has a row, and every row has its renderers."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest

from lci_py.cli.answering import Asked, Row
from lci_py.cli.commands import ROWS
from lci_py.cli.fast_parser import Invocation, defaults
from lci_py.cli.options import ANSWERING, COMMANDS


def test_every_answering_command_but_those_of_a_function_has_a_row() -> None:
    assert set(ANSWERING) - set(ROWS) == {"search", "status"}


@pytest.mark.parametrize("command", ROWS)
@pytest.mark.parametrize("shape", ["text", "json", "paths", "dot"])
def test_what_a_row_names_is_there(command: str, shape: str) -> None:
    module, name = ROWS[command]
    row: Row = getattr(import_module(f"lci_py.cli.{module}"), name)
    call = Invocation(command, defaults(COMMANDS[command]))
    writer = row.writer(Asked(call, shape, SimpleNamespace(name=""), None))  # type: ignore[arg-type]  # no engine
    text = import_module(f"lci_py.render.text.{writer.text}")
    assert callable(import_module(f"lci_py.render.json.{writer.json}").parts)
    assert callable(getattr(text, writer.render)) and callable(text.render_paths)
