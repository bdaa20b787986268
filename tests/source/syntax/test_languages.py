"""Which language a file is in, and whether it is a test, by its name and its first lines."""

import pytest

from lci_py.source.syntax.languages import detect, is_test


@pytest.mark.parametrize(
    "path, test",
    [
        ("kitty_tests/gr.py", True), ("a/unit-tests/b.c", True), ("tests/a.py", True), ("a/test_b.py", True),
        ("tokio-test/src/io.rs", False), ("unit_tests_helper/a.py", False), ("contests/a.py", False),
        ("lib/integration_test/generator.rb", False),
    ],
)  # fmt: skip
def test_a_test_is_one_by_its_folder_or_its_name(path: str, test: bool) -> None:
    assert is_test(path) == test


@pytest.mark.parametrize(
    "path, head, language",
    [
        ("a.def", "TOKEN(plus, \"+\")\n", "c"), ("a.def", "LIBRARY a\nEXPORTS\n  f\n", "text"),
        ("a.inc", "#include <vector>\nnamespace a {\n", "cpp"), ("a.inc", "<?php\nclass A {\n", "text"),
        ("a.inc", "# define the list of sources\nSRCS += a.c\n", "text"), ("a.tbl", "#define CALL(f) f\n", "c"),
    ],
)  # fmt: skip
def test_a_file_that_is_included_is_code_if_it_looks_like_it(path: str, head: str, language: str) -> None:
    assert detect(path, head.encode()) == language
