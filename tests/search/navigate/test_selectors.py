"""Objective-C in the commands that walk the graph: a method is declared in a header, and defined in another file."""

from __future__ import annotations

from pathlib import Path

from lci_py import app
from lci_py.types.graph import GraphRequest
from tests.support.graph_repo import build

SOURCES = {
    "Shop.h": "@interface Shop : NSObject\n- (void)open:(int)day at:(int)hour;\n- (void)close;\n@end\n",
    "Shop.m": (
        '#import "Shop.h"\n@implementation Shop\n'
        "- (void)open:(int)day at:(int)hour { note(day); }\n"
        "- (void)close { [self open:1 at:2]; }\n@end\n"
        "static void run(Gate *gate) { [gate open:1]; }\n"
    ),
    "Gate.m": "@implementation Gate\n- (void)open:(int)day { [self close]; }\n- (void)close { }\n@end\n",
    "note.c": "void note(int day) {}\n",
}


def test_a_declaration_and_its_definition_are_one(tmp_path: Path) -> None:
    with app.open_engine(str(build(tmp_path, SOURCES))) as session:
        callers = session.answer("callers", GraphRequest("Shop.open:at:"))
        assert [f"{call.place.file}:{call.place.line}" for call in callers.neighbours] == ["Shop.m:4"]
        refs = session.answer("refs", GraphRequest("open:at:"))
        assert [(f"{r.file}:{r.line}", r.role) for r in refs.references] == [
            ("Shop.h:2", "definition"),
            ("Shop.m:3", "definition"),
            ("Shop.m:4", "call"),
        ]
        of_two = session.answer("callers", GraphRequest("close"))  # of two classes
        assert len(of_two.others) == 1


def test_a_function_of_c_is_called_from_a_method(tmp_path: Path) -> None:
    with app.open_engine(str(build(tmp_path, SOURCES))) as session:
        callees = session.answer("callees", GraphRequest("Shop.open:at:"))
        assert [f"{call.place.file}:{call.place.line}" for call in callees.neighbours] == ["note.c:1"]
