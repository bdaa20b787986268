"""Names of crates."""

from __future__ import annotations

import pytest

from lci_py.source.extract.extract import extract


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("Cargo.toml", '[package]\nname = "a-b"\n', "a_b"),
        ("p/Cargo.toml", "[package] # ours\n  name='a'\nversion = \"1\"\n[lib]\npath = 'x.rs'\n", "a"),
        ("Cargo.toml", '[lib]\nname = "b"\n[package]\nname = "a"\n', "b"),
        ("Cargo.toml", '[package]\nname = "a"\n[[bin]]\nname = "b"\n[dependencies]\nname = "c"\n', "a"),
        ("Cargo.toml", '[workspace]\nmembers = ["a"]\n', ""),
        ("Cargo.toml", '[package]\n[[bin]]\nname = "b"\n', ""),
        ("Cargo.toml", '[lib]\nname = "b"\n', ""),
        ("Cargo.toml", '[package]\nname = "a::b"\n', ""),
        ("Cargo.lock", '[package]\nname = "a"\n', ""),
    ],
)
def test_a_crate_has_the_name_that_code_imports(path: str, text: str, wanted: str) -> None:
    assert extract(path, text.encode(), "text").package == wanted
