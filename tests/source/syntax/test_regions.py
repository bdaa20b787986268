"""Code inside of files of another kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import detect, load_languages

VUE = """<template>
  <button @click="ring" v-if="open(1)">{{ depth(2) }} <!-- {{ gone() }} --></button>
</template>
<script setup lang="ts">
import { depth } from './tides'
function ring(): void {
  depth(3)
}
</script>
<style>.ring { color: teal }</style>
"""
SVELTE = """<script>
  import { depth } from './tides.ts'
  const ring = () => depth(1)
</script>
{#each days(2) as day}<p>{depth(day)}</p>{/each}
<button on:click={ring}>Ring</button>
"""
ASTRO = "---\nconst tide = (n: number) => n\n---\n<p>{tide(1)}</p>\n<script>function ring() {}</script>\n"
ERB = "<h1>Tides</h1>\n<%# no code %>\n<% days.each do |day| %>\n  <p><%= depth(day) %></p>\n<% end %>\n"


def notebook(*cells: tuple[str, str], kernel: str = "python") -> str:
    made = [{"cell_type": kind, "outputs": [{"data": "def no(): pass"}], "source": text.splitlines(keepends=True)}
            for kind, text in cells]  # fmt: skip
    return json.dumps({"cells": made, "metadata": {"kernelspec": {"language": kernel}}}, indent=1, sort_keys=True)


NOTEBOOK = notebook(
    ("markdown", "# Tides\ndef prose(): the moon"),
    ("code", '%matplotlib inline\ndef height(day, name="x"):\n    """How deep, in \\u00b5m."""\n    return day\n'),
    ("code", "height(3)"),
)


@pytest.mark.parametrize(
    ("path", "text", "language", "symbols", "calls"),
    [
        ("Bell.vue", VUE, "typescript", {"ring": 6}, {("open", 2), ("depth", 2), ("depth", 7)}),
        ("Bell.svelte", SVELTE, "typescript", {"ring": 3}, {("depth", 3), ("days", 5), ("depth", 5)}),
        ("Bell.astro", ASTRO, "typescript", {"tide": 2, "ring": 5}, set()),
        ("bell.html.erb", ERB, "ruby", {}, {("each", 3), ("depth", 4)}),
        ("bell.ipynb", NOTEBOOK, "python", {"height": 24}, {("height", 37)}),
    ],
)
def test_code_is_read_where_it_is(
    path: str, text: str, language: str, symbols: dict[str, int], calls: set[tuple[str, int]]
) -> None:
    assert detect(path) == language
    found = extract(path, text.encode(), language)
    assert not found.has_errors
    assert {symbol.name: symbol.line for symbol in found.symbols} == symbols
    assert calls <= {(call.name, call.line) for call in found.calls}
    assert "gone" not in {call.name for call in found.calls}


def test_text_around_the_code_is_found_and_json_is_not() -> None:
    vue = " ".join(chunk.text for chunk in extract("Bell.vue", VUE.encode(), "typescript").chunks)
    assert "template" in vue and "teal" in vue
    cells = " ".join(chunk.text for chunk in extract("bell.ipynb", NOTEBOOK.encode(), "python").chunks)
    assert "the moon" in cells and "cell_type" not in cells and "def no" not in cells


def test_cells_of_another_kernel_are_text() -> None:
    text = notebook(("code", "def depth(): pass"), kernel="julia")
    assert not extract("bell.ipynb", text.encode(), "python").symbols


def test_commands_see_components(lci: Callable[..., Any], tmp_path: Path) -> None:
    for name, text in (("Bell.vue", VUE), ("Bell.svelte", SVELTE), ("bell.ipynb", NOTEBOOK)):
        (tmp_path / name).write_text(text)
    (tmp_path / "tides.ts").write_text("export function depth(n: number) { return n }\n")
    lci("index", cwd=tmp_path)
    callers = lci("callers", "depth", cwd=tmp_path).out
    assert all(line in callers for line in ("3 function ring", "5 file", "2 file", "7 function ring")), callers
    uses = lci("refs", "ring", cwd=tmp_path).out
    assert "2:" in uses and '@click="ring"' in uses and "on:click={ring}" in uses
    assert "def height(day" in lci("outline", "bell.ipynb", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("a.vue", "<script>"), ("a.vue", "<script "), ("a.vue", "{{a"), ("a.vue", ' @a="'), ("a.vue", "<style>"),
        ("a.svelte", "{a as "), ("a.svelte", "{#if a"), ("a.erb", "<%"), ("a.ipynb", '"source": [ "a" '),
        ("a.ipynb", '"kernelspec": {'), ("a.astro", "---\n"),
    ],
)  # fmt: skip
def test_no_text_takes_quadratic_time(path: str, part: str) -> None:
    """300 kB would take minutes."""
    text = (part * (300_000 // len(part))).encode()
    regions = load_languages()[detect(path)].regions_in(path)
    assert regions is not None
    assert len(regions.parsable(regions.readable(text))) == len(text)


@given(st.text(alphabet='<script></%={}"\n ab@:#-as', max_size=200), st.sampled_from(("vue", "svelte", "astro", "erb")))
def test_offsets_and_lines_are_those_of_the_file(text: str, suffix: str) -> None:
    regions = load_languages()[detect(f"a.{suffix}")].regions_in(f"a.{suffix}")
    assert regions is not None
    source = text.encode()
    made = regions.parsable(source)
    assert len(made) == len(source)
    assert all(new in (old, 32, 59) for old, new in zip(source, made, strict=True))
    assert [i for i, byte in enumerate(made) if byte == 10] == [i for i, byte in enumerate(source) if byte == 10]
