"""The licences that metadata, debian/copyright and files state, and which of them training text may have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lci_py.training.corpus import stated_licence
from lci_py.training.licences import HEAD, PERMISSIVE, debian_licence, debian_rules, foreign, licence_of_text, spdx

MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"
BSD = "Redistribution and use in source and binary forms, with or without\n modification, are permitted"


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ("MIT", "MIT"),
        ("  The MIT License (MIT) ", ""),  # two names and no word between them: unclear
        ("The MIT License", "MIT"),
        ("MIT License", "MIT"),
        ("Expat", "MIT"),
        ("BSD-2-clause", "BSD-2-Clause"),
        ("3-Clause BSD License", "BSD-3-Clause"),
        ("Apache Software License", "Apache-2.0"),
        ("Apache License, Version 2.0", "Apache-2.0"),
        ("Apache-2.0 WITH LLVM-exception", "Apache-2.0"),
        ("ISC License", "ISC"),
        ("Python Software Foundation License", "PSF-2.0"),
        ("(MIT OR Apache-2.0)", "MIT"),
        ("Apache-2.0 OR MIT", "Apache-2.0"),
        ("MIT/Apache-2.0", "MIT"),
        ("GPL-2.0-only OR MIT", "MIT"),
        ("MIT AND BSD-3-Clause", "MIT"),
        ("MIT AND GPL-2.0-only", ""),
        ("BSD-3-clause and LGPL-2.1+", ""),
        ("GPL-3+", ""),
        ("LGPL-2.1", ""),
        ("MPL-2.0", ""),
        ("CC-BY-4.0", ""),
        ("SEE LICENSE IN LICENSE.txt", ""),
        ("UNLICENSED", ""),
        ("", ""),
    ],
)
def test_spdx(stated: str, name: str) -> None:
    assert spdx(stated) == name
    assert name in PERMISSIVE or not name


@pytest.mark.parametrize(
    "head",
    [
        "/* This file is under the GNU General Public License */",
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        "// SPDX-License-Identifier: LGPL-2.1",
        "// Subject to the Mozilla Public\n",
        "-- Creative Commons Attribution",
        "# from https://stackoverflow.com/a/12345",
        "// Acme Corp. Proprietary and confidential.",
    ],
)
def test_a_file_that_names_a_foreign_licence_is_refused(head: str) -> None:
    assert foreign(head.encode() + b"\nint main(void) { return 0; }\n")
    assert not foreign(b"x" * HEAD + head.encode())  # only the head of a file speaks of its licence


@pytest.mark.parametrize("head", ["// SPDX-License-Identifier: MIT", "# " + MIT, "/* " + BSD + " */", "x = 1", ""])
def test_a_file_of_a_permissive_licence_is_not_refused(head: str) -> None:
    assert not foreign(head.encode())


COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: sample
Files-Excluded: doc/*

Files: *
Copyright: 2020 Somebody
License: Expat

Files: src/gnu/*
 tools/a.c, tools/b?.c
Copyright: 2020 Somebody else
License: GPL-2+
 This is free software.

Files: src/gnu/free.c
Copyright: 2020 Somebody
License: BSD-3-clause or GPL-2+

License: Expat
 text
"""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("main.c", "MIT"),
        ("src/deep/er/x.c", "MIT"),
        ("src/gnu/x.c", ""),
        ("src/gnu/deep/x.c", ""),
        ("tools/a.c", ""),
        ("tools/b1.c", ""),
        ("tools/b12.c", "MIT"),
        ("src/gnu/free.c", "BSD-3-Clause"),  # the last pattern that matches
    ],
)
def test_the_last_pattern_of_debian_copyright_counts(path: str, name: str) -> None:
    rules = debian_rules(COPYRIGHT)
    assert rules is not None
    assert debian_licence(rules, path) == name


def test_prose_is_no_machine_readable_copyright() -> None:
    assert debian_rules("This package was made by hand.\n\nFiles: *\nLicense: MIT\n") is None
    assert debian_licence(debian_rules(COPYRIGHT.replace("Files: *\n", "Files: lib/*\n")) or [], "main.c") == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MIT, "MIT"),
        (BSD, "BSD-2-Clause"),
        (BSD + ". Neither the name may be used to endorse or\n promote products", "BSD-3-Clause"),
        ("Apache License\nVersion 2.0, January 2004", "Apache-2.0"),
        ("Permission to use, copy, modify, and/or distribute this software", "ISC"),
        (MIT + "\n\n" + BSD, ""),  # which of the two?
        (MIT + "\nParts are under the GNU General Public License.", ""),
        ("Do what you like.", ""),
        ("", ""),
    ],
)
def test_a_licence_text_counts_if_it_is_plainly_one(text: str, name: str) -> None:
    assert licence_of_text(text) == name


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ({"license": "MIT"}, "MIT"),
        ({"license": {"type": "BSD-2-Clause", "url": "x"}}, "BSD-2-Clause"),
        ({"licenses": [{"type": "ISC"}]}, "ISC"),
        ({"licenses": []}, ""),
        ({"license": "GPL-3.0"}, ""),
        ({}, ""),
    ],
)
def test_the_licence_of_an_npm_package(tmp_path: Path, card: dict[str, object], name: str) -> None:
    (tmp_path / "package.json").write_text(json.dumps(card))
    assert stated_licence(tmp_path, "npm") == name


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("License-Expression: Apache-2.0", "Apache-2.0"),
        ("Classifier: License :: OSI Approved :: MIT License", "MIT"),
        ("License: BSD-3-Clause", "BSD-3-Clause"),
        ("License: GPL-3.0-or-later", ""),
        ("Classifier: License :: OSI Approved :: GNU General Public License v2 (GPLv2)\nLicense: MIT", ""),
        ("Summary: nothing said", "MIT"),  # then the text beside it counts
    ],
)
def test_the_licence_of_a_wheel(tmp_path: Path, head: str, name: str) -> None:
    folder = tmp_path / "a-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: a\n{head}\n\nLicense: MIT, says the description\n")
    (folder / "LICENSE").write_text(MIT)
    assert stated_licence(tmp_path, "pypi") == name


def test_the_licence_of_a_debian_package_is_that_of_most_patterns(tmp_path: Path) -> None:
    (tmp_path / "debian").mkdir()
    (tmp_path / "debian" / "copyright").write_text(COPYRIGHT.replace("License: BSD-3-clause or GPL-2+", "License: MIT"))
    assert stated_licence(tmp_path, "debian") == "MIT"
    (tmp_path / "debian" / "copyright").unlink()
    assert stated_licence(tmp_path, "debian") == ""
    (tmp_path / "COPYING").write_text(BSD)
    assert stated_licence(tmp_path, "debian") == "BSD-2-Clause"
