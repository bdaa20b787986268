"""Writes which functions of a Python package call which, as a program runs: the truth of `callgraph_runtime`.

    LCI_TRACE_ROOT=CHECKOUT/src/package LCI_TRACE_OUT=calls.tsv PYTHONPATH=tests/quality pytest -p runtime_trace CHECKOUT/tests

The module needs nothing but the standard library. Each line of the output is a pair: path and line of the call, path,
first line and name of the function that ran; paths are relative to the root. Left out are calls between which code from
elsewhere runs (`json.dumps` calls `default`), class bodies and comprehensions as callees, and generators and coroutines,
which run later than they are called.
"""

from __future__ import annotations

import atexit
import inspect
import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

_ROOT = os.path.realpath(os.environ["LCI_TRACE_ROOT"]) + os.sep
_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_pairs: set[tuple[str, int, str, int, str]] = set()
_paths: dict[str, str] = {}
_callees: dict[CodeType, bool] = {}


def _inside(code: CodeType) -> str:
    path = _paths.get(code.co_filename)
    if path is None:
        full = os.path.realpath(code.co_filename)
        path = _paths[code.co_filename] = full[len(_ROOT) :] if full.startswith(_ROOT) else ""
    return path


def _is_callee(code: CodeType) -> bool:
    name = code.co_name
    if code.co_flags & _LATER or (name[0] == "<" and name != "<lambda>"):
        return False
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and bool(_inside(code))  # a class body is not optimized


def _trace(frame: FrameType, event: str, _: Any) -> None:
    if event != "call":
        return
    code = frame.f_code
    known = _callees.get(code)
    if known is None:
        known = _callees[code] = _is_callee(code)
    caller = frame.f_back
    if known and caller is not None and _inside(caller.f_code):
        _pairs.add((_inside(caller.f_code), caller.f_lineno, _inside(code), code.co_firstlineno, code.co_name))


def _write() -> None:
    sys.setprofile(None)
    with open(os.environ["LCI_TRACE_OUT"], "a", encoding="utf-8") as out:
        out.writelines("\t".join(map(str, pair)) + "\n" for pair in sorted(_pairs))


sys.setprofile(_trace)
threading.setprofile(_trace)
atexit.register(_write)
