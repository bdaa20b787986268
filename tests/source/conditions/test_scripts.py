"""Conditions of definitions in Ruby, PHP, Lua, Elixir and shells, one table per language."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, strategies as st

from lci_py.config import FEATURE_FLAGS
from lci_py.source.extract.extract import extract
from tests.support.properties import examples


def tags(language: str, source: str) -> list[str | None]:
    text = textwrap.dedent(source).encode()
    symbols = extract("a", (b"<?php\n" if language == "php" else b"") + text, language, flags=FEATURE_FLAGS).symbols
    return [symbol.build_tag for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


RUBY = [
    ("if A && RUBY_VERSION>='3.0'\n  def f; end\nelsif B then X = 1\nelsif C then X = 1\nelse\n  X = 2\nend\n",
     ['A && RUBY_VERSION >= "3.0"', '!(A && RUBY_VERSION >= "3.0") && B', '!(A && RUBY_VERSION >= "3.0") && !B && C',
      '!(A && RUBY_VERSION >= "3.0") && !B && !C']),
    ("unless RUBY_PLATFORM =~ /mswin/\n  def f; end\nelse\n  def f; end\nend\n",
     ["!(RUBY_PLATFORM =~ /mswin/)", "RUBY_PLATFORM =~ /mswin/"]),
    ("if RUBY_PLATFORM !~ /mswin/\n  X = 1\nelse\n  X = 2\nend\n",
     ["RUBY_PLATFORM !~ /mswin/", "RUBY_PLATFORM =~ /mswin/"]),
    ("def f; end if defined? X::Y\ndef f; end unless defined?(X::Y)\n", ["defined?(X::Y)", "!defined?(X::Y)"]),
    ("class A\n  X = 1 unless X?\n  private def f; end if not Y\n  class << self\n    if Z\n      def g; end\n    end\n"
     "  end\nend\n", [None, "!X?", "!Y", "Z"]),
    ("module M\n  if A || B\n    def f\n      if c\n        def g; end\n      end\n    end\n  end\nend\n",
     [None, "A || B", "A || B"]),
    ("if A || B\n  def f; end unless x?\nend\n", ["(A || B) && !x?"]),
    ("begin\n  require 'a'\n  X = 1\nrescue LoadError, E => e\n  X = 2\nelse\n  X = 3\nensure\n  Y = 1\nend\n",
     ["begin", "rescue LoadError, E", "begin else", None]),
    ("begin\n  X = 1\nend\n", [None]),
    ("case RUBY_ENGINE\nwhen 'jruby', /truffle/ then X = 1\nelse X = 2\nend\n",
     ['RUBY_ENGINE == "jruby" || RUBY_ENGINE =~ /truffle/', '!(RUBY_ENGINE == "jruby" || RUBY_ENGINE =~ /truffle/)']),
    ("case\nwhen A then X = 1\nwhen B then X = 2\nend\n", ["A", "!A && B"]),
    ("if Flipper.enabled?(:new_ui)\n  def f; end\nend\ndef f; end unless Flipper.enabled? 'new_ui'\n",
     ['flag("new_ui")', '!flag("new_ui")']),
    ("if __FILE__ == $0\n  def f; end\nend\n", [None]),
    ("def f\n  if A\n    def g; end\n  end\nend\n", [None, None]),
    ("if false\n  def f; end\nend\n", ["0"]),
]  # fmt: skip

PHP = [
    ("if ( ! function_exists( 'f' ) ) { function f() {} }\nif (!\\function_exists(\"f\")) { function f() {} }\n",
     ['!function_exists("f")', '!function_exists("f")']),
    ("if (A) { class B {} }\nelseif (\\PHP_VERSION_ID>=80000) { class B {} }\nelse if (C) { class B {} }\n"
     "else { class B {} }\n",
     ["A", "!A && PHP_VERSION_ID >= 80000", "!A && !(PHP_VERSION_ID >= 80000) && C",
      "!A && !(PHP_VERSION_ID >= 80000) && !C"]),
    ("if (A):\n function f() {}\nelseif (B):\n function f() {}\nelse:\n function f() {}\nendif;\n",
     ["A", "!A && B", "!A && !B"]),
    ("defined('X') or define('X', 1);\ndefined('Y') || define('Y', 1);\ndefined('X') && define('Z', 1);\n",
     ['!defined("X")', '!defined("Y")', 'defined("X")']),
    ("try { class A {} }\ncatch (E|F $e) { class A {} }\nfinally { class B {} }\n", ["try", "catch E|F", None]),
    ("switch (PHP_OS_FAMILY) {\n case 'Windows': function f() {} break;\n default: function f() {}\n}\n",
     ["…", "…"]),
    ("namespace N {\n if (A) { function f() {} }\n}\n", [None, "A"]),
    ("if ($flags->isEnabled('x')) { class A {} } else {\n class A {} }\n", ['flag("x")', '!flag("x")']),
    ("function f() {\n if (A) { function g() {} }\n}\nclass A {\n function h() { if (B) { function i() {} } } }\n",
     [None, None, None, None, None]),
]  # fmt: skip

LUA = [
    ("if jit and x then\n function f() end\nelseif B then\n f = function() end\nelse\n function f() end\nend\n",
     ["jit and x", "not (jit and x) && B", "not (jit and x) && not (B)"]),
    ("if not A then\n function f() end\nelse\n function f() end\nend\n", ["not (A)", "A"]),
    ("if jit.os ~= 'Windows' then\n function f() end\nelse\n function f() end\nend\n",
     ['jit.os ~= "Windows"', 'jit.os == "Windows"']),
    ("do\n if A then function f() end end\nend\n", ["A"]),
    ("M.f = M.f or function() end\nM.g = M.h or function() end\n", ["not (M.f)", None]),
    ("function f()\n if A then function g() end end\nend\n", [None, None]),
]  # fmt: skip

ELIXIR = [
    ("defmodule A do\n  if Mix.env() == :test do\n    def f, do: 1\n  else\n    def f, do: 2\n  end\nend\n",
     [None, "Mix.env() == :test", "!(Mix.env() == :test)"]),
    ("if Code.ensure_loaded?(X) do\n  defmodule A do\n    unless B do\n      def f, do: if(c, do: 1)\n    end\n"
     "  end\nend\n", ["Code.ensure_loaded?(X)", "Code.ensure_loaded?(X) && !B"]),
    ("defmodule A do\n  unless B, do: def(f, do: 1), else: def(g, do: 1)\nend\n", [None, "!B", "B"]),
    ("defmodule A do\n  case X do\n    '25' -> def f, do: 1\n    _ -> def f, do: 2\n  end\nend\n",
     [None, "…", "…"]),
    ("defmodule A do\n  cond do\n    B -> def f, do: 1\n    true -> def f, do: 2\n  end\nend\n", [None, "…", "…"]),
    ("defmodule A do\n  if FF.is_enabled(:new_ui), do: def f(), do: 1\nend\n", [None, 'flag("new_ui")']),
    ("defmodule A do\n  def f do\n    if B do\n      def g, do: 1\n    end\n  end\nend\n", [None, None, None]),
]  # fmt: skip

SHELL = [
    ('if [ "$(uname)" = Darwin ]; then\n f() { a; }\nelif [[ $(uname) == "Linux" ]]; then\n f() { a; }\n'
     "elif test \"$(uname)\" = 'FreeBSD'; then\n f() { a; }\nelse\n f() { b; }\nfi\n",
     ['$(uname) == "Darwin"', '!($(uname) == "Darwin") && $(uname) == "Linux"',
      '!($(uname) == "Darwin") && !($(uname) == "Linux") && $(uname) == "FreeBSD"',
      '!($(uname) == "Darwin") && !($(uname) == "Linux") && !($(uname) == "FreeBSD")']),
    ('case "$(uname)" in\n Darwin|Free*) f() { a; } ;;\n "") ;;\n *) f() { b; } ;;\nesac\n',
     ['$(uname) == "Darwin" || $(uname) == "Free*"',
      '!($(uname) == "Darwin" || $(uname) == "Free*") && !($(uname) == "")']),
    ("[[ -n $X ]] && f() { a; }\n[ -z \"$X\" ] || f() { a; }\n", ["-n $X", "!(-z $X)"]),
    ("[ a ] && X=1 || X=2\n", ["a", "!a"]),
    ("[[ a ]] && {\n f() { a; }\n if b; then\n  g() { a; }\n fi\n}\n", ["a", "a && b"]),
    ("if ! command -v brew >/dev/null 2>&1; then\n brew() { :; }\nelse\n brew() { :; }\nfi\n",
     ["!(command -v brew)", "command -v brew"]),
    ('if [ ! -f "$x" ]; then\n f() { :; }\nelse\n f() { :; }\nfi\n', ["!(-f $x)", "-f $x"]),
    ("if [ ! -f a ] && b; then\n f() { :; }\nfi\n", ["!(-f a) && b"]),
    ("if [[ $A != x* || $B ]]; then\n f() { :; }\nfi\n", ['$A != "x*" || $B']),
    ("if feature_enabled new-ui; then\n f() { :; }\nfi\n", ['flag("new-ui")']),
    ('if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then\n f() { :; }\nfi\n', [None]),
    ("f() {\n if a; then\n  g() { :; }\n fi\n}\n", [None, None]),
]  # fmt: skip

TABLES = {"ruby": RUBY, "php": PHP, "lua": LUA, "elixir": ELIXIR, "bash": SHELL}


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [(language, *row) for language, table in TABLES.items() for row in table],
    ids=[f"{language}{number}" for language, table in TABLES.items() for number in range(len(table))],
)
def test_conditions(language: str, source: str, expected: list[str | None]) -> None:
    assert tags(language, source) == expected


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("ruby", "if A then X = 1\n" + "elsif B then X = 1\n" * 1500 + "end\n"),
        ("ruby", "case a\n" + "when 1 then X = 1\n" * 1500 + "end\n"),
        ("ruby", "X = 1" + " if a" * 1500 + "\n"),
        ("php", "if (A) { class B {} }" + " else if (B) { class B {} }" * 1500),
        ("php", "#[" + "A, " * 5000 + "B] class C {}"),
        ("lua", "if a then x = 1\n" + "elseif b then x = 1\n" * 1500 + "end\n"),
        ("elixir", "cond do\n" + "  a -> def f, do: 1\n" * 1500 + "end\n"),
        ("bash", "[ a ]" + " && X=1 || X=2" * 2000 + "\n"),
        ("bash", "if [ a ]; then X=1\n" + "elif [ b ]; then X=1\n" * 1500 + "fi\n"),
        ("bash", "if " + "[ a ] && " * 5000 + "b; then X=1; else X=2; fi\n"),
    ],
    ids=range(10),
)
def test_conditions_of_hostile_files_are_bounded(language: str, source: str) -> None:
    for tag in tags(language, source):
        assert tag is None or len(tag) < 4000


PARTS = [
    "if A", "if (A) {", "}", "elsif B", "elseif B then", "else", "else {", "end", "unless C", "begin", "rescue E", "then",
    "case x", "case x in", "when 1", "1)", ";;", "esac", "fi", "do", "def f; end", "def f, do: 1", "f() { :; }",
    "function f() {}", "function f() end", "defmodule M do", "cond do", "a ->", "X = 1", "X=1", "&& ", "|| ", "[[ a ]]",
    "enabled? :x", "(", ")", "'", '"', "#[FeatureEnabled('x')]", "switch (a) {", "case 1:", "\xe9",
]  # fmt: skip


@examples(100)
@given(st.sampled_from(sorted(TABLES)), st.lists(st.sampled_from(PARTS), max_size=30))
def test_nothing_raises(language: str, parts: list[str]) -> None:
    assert all(tag is None or tag for tag in tags(language, "\n".join(parts)))
