"""A small package in three languages, read and mined as the pipeline does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import detect
from lci_py.training.corpus import Package, sources
from lci_py.training.leaks import fingerprints
from lci_py.training.mine import mine
from lci_py.training.pairs import PackageText
from lci_py.training.texts import Text

FILES = {
    "shapes/plate.py": '''# Copyright 2020 Somebody. Licensed under the terms of the licence beside this file.
"""Surfaces of plane figures as a workshop needs them for its plates."""

from dataclasses import dataclass


@dataclass
class PunchedPlate:
    """A metal plate with round holes in it.

    Further words that nobody asks for.
    """

    width: float
    holes: list

    def covered_surface(self, scale, margin=0.5):
        """Compute how much material remains after punching.

        :param scale: metres for each unit of the drawing
        """
        # Overlapping holes would count twice without this merge
        merged = merge_overlapping(self.holes, margin)
        # TODO: remember somehow the corners that were rounded
        total = self.width * self.width * scale
        for hole in merged:
            total -= hole.radius * hole.radius * 3.14159
        return total


def merge_overlapping(holes, margin):
    kept = []
    for hole in sorted(holes, key=lambda item: item.radius):
        if not any(other.touches(hole, margin) for other in kept):
            kept.append(hole)
    return kept
''',
    "tests/test_plate.py": """from shapes.plate import merge_overlapping


def test_merge_overlapping_keeps_largest():
    assert len(merge_overlapping([], 0)) == 0
""",
    "web/session.js": """/**
 * Forget every session whose cookie has expired.
 *
 * @param {Map} sessions living and dead ones of this server
 * @returns {number} count
 */
export function removeExpired(sessions, now) {
  let removed = 0;
  for (const [key, session] of sessions) {
    // Clocks of clients may run ahead by some minutes
    if (session.expires + 60000 < now) {
      sessions.delete(key);
      removed += 1;
    }
  }
  return removed;
}
""",
    "pool/pool.go": """// Copyright 2019 The Authors. All rights reserved.

package pool

// AcquireWorker waits until some worker is idle and returns it to the caller.
func AcquireWorker(queue chan *Worker, limit int) (*Worker, error) {
	select {
	case worker := <-queue:
		return worker, nil
	default:
		return startWorker(queue, limit)
	}
}
""",
    "README.md": """# Workshop tools

## Removing old sessions

Call `removeExpired` every minute so that memory never fills with dead entries.
See https://example.org for more about `AcquireWorker` and its friends here.
""",
}


@dataclass(frozen=True)
class Tiny:
    """A mined package."""

    work: Path
    package: Package
    report: dict[str, int]
    words: list[str]
    files: list[str]
    arrays: dict[str, np.ndarray[Any, Any]]


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def package_text(files: dict[str, str]) -> PackageText:
    found = PackageText()
    for path, text in files.items():
        data = text.encode()
        found.add(Text(path, data, extract(path, data, detect(path, data))), fingerprints(data))
    return found


def mined(work: Path, files: dict[str, str], *, part: str = "train", name: str = "tiny") -> Tiny:
    package = Package("pypi", name, "1", "MIT", part)
    write(sources(work, package), files)
    if not (work / "known.npy").exists():
        np.save(work / "known.npy", np.zeros(0, np.uint64))
    report = mine(work, package, work / "known.npy")
    names = json.loads((work / "mined" / package.key / "words.json").read_text())
    with np.load(work / "mined" / package.key / "arrays.npz") as opened:
        arrays = {key: opened[key] for key in opened.files}
    return Tiny(work, package, report, names["words"], names["files"], arrays)


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return mined(tmp_path, FILES)
