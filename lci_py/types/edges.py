"""The kinds of the call graph's edges, the rules that find them, and the confidence in each rule."""

from __future__ import annotations

CALLS, IMPORTS, INHERITS = 0, 1, 2
EDGE_KINDS = ("calls", "imports", "inherits")
#: The rule that an edge rests on. The two tables below have the measured share of correct edges: of unambiguous ones,
#: and of those whose call may mean several (docs/call-graph.md).
STEPS = ("scope", "import", "self", "type", "package", "value", "flow", "name", "override", "callback", "field",
         "route", "event", "inject", "command", "fixture", "task", "template", "hook")  # fmt: skip
_ALONE = (0.99, 0.99, 0.99, 0.99, 0.99, 0.93, 0.97, 0.94, 0.8, 0.6, 0.9, 0.95, 0.9, 0.95, 0.9, 0.95, 0.95, 0.95, 0.9)
_OF_SEVERAL = (0.8, 0.5, 0.5, 0.8, 0.95, 0.5, 0.7, 0.5, 0.5, 0.3, 0.8, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
SCOPE, IMPORT, SELF, TYPE, PACKAGE, VALUE, FLOW, NAME, OVERRIDE, CALLBACK, FIELD = range(11)
#: The first of the steps of registrations, in the order of `types.source.REGISTRATIONS`.
ROUTE = 11
#: The last step: what a base class of a library calls.
HOOK = len(STEPS) - 1
#: The step of dynamic dispatch, for which no edge is stored: commands derive it from inheritance (docs/call-graph.md).
DISPATCH = len(STEPS)
_OF_DISPATCH = 0.5
#: Bit of `step`: the edge is one of several possible targets of its call.
AMBIGUOUS = 0x80
#: The arrays of a graph that are stored, with the types that each may have.
STORED: dict[str, tuple[str, ...]] = {
    "first_symbol": ("i4",), "target": ("i4",), "kind": ("u1",), "line": ("u1", "u2", "i4"), "step": ("u1",),
    "out_ptr": ("i4",), "incoming": ("i4",), "in_ptr": ("i4",), "first_lambda": ("i4",), "lambda_symbol": ("i4",),
    "lambda_line": ("i4",), "lambda_end_line": ("i4",), "key_start": ("i4",), "keys": ("i4",), "site_key": ("i8",),
    "site_count": ("i4",),
}  # fmt: skip


def confidence(step: int) -> float:
    """The confidence of an edge, in (0, 1]: the measured share of correct edges among those of the same step (rule)."""
    if step & ~AMBIGUOUS == DISPATCH:
        return _OF_DISPATCH
    index = min(step & ~AMBIGUOUS, len(STEPS) - 1)
    return _OF_SEVERAL[index] if step & AMBIGUOUS else _ALONE[index]
