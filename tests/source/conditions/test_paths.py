"""The platform that a path suggests, for files that the build or the program chooses from."""

from __future__ import annotations

import pytest

from lci_py.source.conditions.paths import inferred_condition, shared_path

PATHS = [
    ("src/win/pipe.c", "windows", "src/*/pipe.c"),
    ("src/unix/pipe.c", "unix", "src/*/pipe.c"),
    ("src/unix/linux-core.c", "linux", "src/*/*-core.c"),  # the innermost word counts
    ("pkg/_pslinux.py", "linux", "pkg/_ps*.py"),
    ("pkg/_psosx.py", "macos", "pkg/_ps*.py"),
    ("asyncio/windows_events.py", "windows", "asyncio/*_events.py"),
    ("src/FileWin32.cpp", "windows", "src/File*.cpp"),
    ("src/Watcher.Linux.cs", "linux", "src/Watcher.*.cs"),
    ("arch/x86_64/linux/entry.c", "linux && x86_64", "arch/*/*/entry.c"),
    ("crypto/aes_arm64.c", "aarch64", "crypto/aes_*.c"),
    # words that only begin or end with one
    ("src/window.c", None, "src/window.c"),
    ("src/twin.c", None, "src/twin.c"),
    ("src/linuxish.c", None, "src/linuxish.c"),
    ("src/charm.c", None, "src/charm.c"),
    ("src/hmac.c", None, "src/hmac.c"),
    ("src/machine.c", None, "src/machine.c"),
]


@pytest.mark.parametrize(("path", "condition", "shared"), PATHS, ids=[path for path, _, _ in PATHS])
def test_paths(path: str, condition: str | None, shared: str) -> None:
    language = {"py": "python", "cs": "csharp", "cpp": "cpp"}.get(path.rpartition(".")[2], "c")
    assert inferred_condition(language, path) == condition
    assert shared_path(language, path) == shared


@pytest.mark.parametrize("language", ["go", "rust", "kotlin", "java", "bash"])
def test_languages_that_state_the_platform_of_a_file(language: str) -> None:
    assert inferred_condition(language, "src/win/pipe") is None
    assert shared_path(language, "src/win/pipe") == "src/win/pipe"


def test_a_suffix_that_a_bundler_reads_is_no_part_of_what_variants_share() -> None:
    assert shared_path("javascript", "src/win32/button.ios.js") == "src/*/button.js"
