"""`lci callers` of what only calls with a computed name reach: in no language does it answer with a bare 0."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import build

Lci = Callable[..., Ran]

#: Per language: a file in which `lit` calls the first name, written as text, and `var` calls any; and the two names.
PROGRAMS = {
    "py/a.py": "class W:\n    def on_end(self): pass\n    def on_var(self): pass\n\ndef lit(w):\n    return getattr(w, 'on_end')()\n\ndef var(w, k):\n    return getattr(w, k)()\n",
    "rb/a.rb": "class W\n  def on_end; end\n  def on_var; end\nend\ndef lit(w)\n  w.public_send('on_end')\nend\ndef var(w, k)\n  w.send(k)\nend\n",
    "js/a.js": "class W {\n  on_end() {}\n  on_var() {}\n}\nfunction lit(w) { return w['on_end'](); }\nfunction vari(w, k) { return w[k](); }\n",
    "ts/a.ts": "export class W {\n  onEnd(): void {}\n  onVar(): void {}\n}\nexport function lit(w: W) { return w['onEnd'](); }\nexport function vari(w: any, k: string) { return w[k](); }\n",
    "php/a.php": "<?php\nclass W { function on_end() {} function on_var() {} }\nfunction lit($w) { call_user_func([$w, 'on_end']); }\nfunction vari($w, $k) { $w->$k(); }\n",
    "lua/a.lua": "local W = {}\nfunction W:on_end() end\nfunction W:on_var() end\nfunction lit(w) return w['on_end'](w) end\nfunction vari(w, k) return w[k](w) end\nreturn W\n",
    "pl/a.pl": "package W;\nsub on_end { 1 }\nsub on_var { 1 }\nsub lit { my $w = shift; my $m = 'on_end'; $w->$m(); }\nsub vari { my ($w, $m) = @_; $w->$m(1); }\n1;\n",
    "ex/a.ex": "defmodule W do\n  def on_end(x), do: x\n  def on_var(x), do: x\n  def lit(m), do: apply(m, :on_end, [1])\n  def vari(m, k), do: apply(m, k, [1])\nend\n",
    "java/A.java": 'class W { void onEnd() {} void onVar() {}\n static void lit(Object o) throws Exception { o.getClass().getMethod("onEnd").invoke(o); }\n static void vari(Object o, String k) throws Exception { o.getClass().getMethod(k).invoke(o); }\n}\n',
    "kt/a.kt": 'class K { fun onKeep() {}\n fun onKVar() {} }\nfun lit(o: Any) { o.javaClass.getMethod("onKeep").invoke(o) }\nfun vari(o: Any, k: String) { o.javaClass.getMethod(k).invoke(o) }\n',
    "cs/A.cs": 'class W { void OnEnd() {} void OnVar() {}\n static void Lit(object o) { o.GetType().GetMethod("OnEnd").Invoke(o, null); }\n static void Vari(object o, string k) { o.GetType().GetMethod(k).Invoke(o, null); }\n}\n',
    "scala/a.scala": 'class S { def onStop() = {}\n def onSVar() = {} }\nobject M { def lit(o: AnyRef) = o.getClass.getMethod("onStop").invoke(o)\n def vari(o: AnyRef, k: String) = o.getClass.getMethod(k).invoke(o) }\n',
    "go/a.go": 'package a\n\nimport "reflect"\n\ntype W struct{}\n\nfunc (W) OnEnd() {}\nfunc (W) OnVar() {}\n\nfunc lit(v any) { reflect.ValueOf(v).MethodByName("OnEnd").Call(nil) }\nfunc vari(v any, k string) { reflect.ValueOf(v).MethodByName(k).Call(nil) }\n',
    "c/a.c": '#include <dlfcn.h>\nint on_end(int x) { return x; }\nint on_var(int x) { return x; }\nvoid *lit(void *h) { return dlsym(h, "on_end"); }\nvoid *vari(void *h, const char *k) { return dlsym(h, k); }\n',
    "swift/a.swift": 'class W: NSObject { @objc func onEnd() {}\n @objc func onVar() {} }\nfunc lit(o: NSObject) { o.perform(Selector("onEnd")) }\nfunc vari(o: NSObject, k: String) { o.perform(NSSelectorFromString(k)) }\n',
    "m/a.m": '@implementation W\n- (void)onEnd {}\n- (void)onVar {}\n@end\nvoid lit(id o) { [o performSelector:NSSelectorFromString(@"onEnd")]; }\nvoid vari(id o, NSString *k) { [o performSelector:NSSelectorFromString(k)]; }\n',
    "jl/a.jl": "on_end(x) = x\non_var(x) = x\nlit() = getfield(Main, :on_end)(1)\nvari(k) = getfield(Main, k)(1)\n",
    "sh/a.sh": 'on_end() { :; }\non_var() { :; }\nlit() { eval "on_end x"; }\nvari() { "$1" x; }\n',
    "ps1/a.ps1": "function On-End { 1 }\nfunction On-Var { 1 }\nfunction Lit { & 'On-End' }\nfunction Vari($k) { & $k }\n",
}  # fmt: skip
NAMES = {
    "kt/a.kt": ("onKeep", "onKVar"), "scala/a.scala": ("onStop", "onSVar"), "ps1/a.ps1": ("On-End", "On-Var"),
    "cs/A.cs": ("OnEnd", "OnVar"), "go/a.go": ("OnEnd", "OnVar"),
    **dict.fromkeys(("ts/a.ts", "java/A.java", "swift/a.swift", "m/a.m"), ("onEnd", "onVar")),
}  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("computed") / "repo", PROGRAMS)


def callers(lci: Lci, root: Path, name: str) -> dict:
    found = json.loads(lci("callers", name, "--json", cwd=root).out)
    VALIDATOR.validate(found)
    return found


@pytest.mark.parametrize("path", PROGRAMS)
def test_a_name_that_is_written_as_text(lci: Lci, programs: Path, path: str) -> None:
    found = callers(lci, programs, f"{path}::{NAMES.get(path, ('on_end', 'on_var'))[0]}")
    assert {item["symbol"].lower() for item in found["results"] if item["file"] == path} == {"lit"}
    assert "calls_of_unknown_name" not in found


@pytest.mark.parametrize("path", PROGRAMS)
def test_a_name_that_is_not_written(lci: Lci, programs: Path, path: str) -> None:
    name = f"{path}::{NAMES.get(path, ('on_end', 'on_var'))[1]}"
    found = callers(lci, programs, name)
    line = max(n for n, text in enumerate(PROGRAMS[path].splitlines(), 1) if re.search(r"\bk\b|\$[1km]\b", text))
    assert not found["results"] and f"{path}:{line}" in found["calls_of_unknown_name"]
    assert "a name that is not written and may mean it: " in lci("callers", name, cwd=programs).out


def test_a_call_on_the_own_object_means_no_other_class(lci: Lci, tmp_path: Path) -> None:
    text = (
        "class W:\n    def go(self, k):\n        getattr(self, k)()\n    def step(self): pass\n\n"
        "class Other:\n    def step(self): pass\n\ndef step(): pass\n"
    )
    root = build(tmp_path / "repo", {"a.py": text})
    assert callers(lci, root, "W.step")["calls_of_unknown_name"] == ["a.py:3"]
    assert all("calls_of_unknown_name" not in callers(lci, root, name) for name in ("Other.step", "a.py::step"))


def test_a_file_that_is_included_is_code_and_a_table_names_what_nothing_calls(lci: Lci, tmp_path: Path) -> None:
    files = {
        "a.c": 'int run(int x);\nint stop(int x);\n#include "ops.inc"\nstruct op ops[] = {\n#include "ops.def"\n};\n'
        "int run(int x) { return step(x); }\nint stop(int x) { return x; }\n",
        "ops.inc": "#ifndef STEP\nstatic int step(int x) { return x; }\n#endif\n",
        "ops.def": "/* Automatically generated by ops.py, do not edit. */\nOP(run, 1)\nOP(stop, 1)\n",
        "win.def": "EXPORTS\n  run\n",
        "page.inc": "<?php\nclass A { const OP = 1; }\nOP(run, 1)\n",
    }
    root = build(tmp_path / "repo", files)
    assert [item["symbol"] for item in callers(lci, root, "step")["results"]] == ["run"]
    assert callers(lci, root, "stop")["mentions"] == ["ops.def:3"]
    assert "named without a call in 1 line: ops.def:3" in lci("callers", "stop", cwd=root).out
