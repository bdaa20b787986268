"""Embedding without repeating work: a chunk has the same vector in every segment, and a text is embedded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lci_py.embed.contextual import ContextualEncoder
from lci_py.embed.encoder import Encoder, open_encoder
from lci_py.embed.folder import ModelFolder
from lci_py.index.build import embedding
from lci_py.index.build.embedding import embed, embed_texts
from lci_py.index.shards.segment_rows import SegmentRows, number_rows
from lci_py.index.shards.term_counts import NumberedWords
from lci_py.index.shards.text_fields import TextFields, text_fields
from lci_py.source.file_record import FileRecord
from lci_py.source.repository.walk import WalkOptions, walk
from tests.conftest import CORPUS
from tests.support import tiny_models as tiny
from tests.support.records import process_file


def extracted(folder: Path, *, texts: bool = False) -> list[FileRecord]:
    found = [process_file(folder, entry, texts=texts) for entry in walk(folder, WalkOptions()).files]
    return sorted((record for record in found if not isinstance(record, str)), key=lambda record: record.path)


@pytest.fixture(scope="module")
def records() -> list[FileRecord]:
    found = extracted(CORPUS)
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder()


def fields_of(records: list[FileRecord]) -> TextFields:
    words = NumberedWords()
    for record in records:
        words.add(record.words)
    return text_fields(number_rows(records), words)


@pytest.mark.parametrize("size", [1, 7, 8192])
def test_a_chunk_has_the_same_embedding_in_every_segment(
    records: list[FileRecord], encoder: Encoder, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Whichever files are in the segment, and in slices of any size: a refresh must answer as a full build."""
    rows = number_rows(records)
    whole = embed(fields_of(records), encoder)
    monkeypatch.setattr(embedding, "EMBED_SLICE", size)
    for some in (records, records[3:15], records[7:8]):
        found = embed(fields_of(some), encoder)
        there = np.flatnonzero(np.isin(rows.chunk_file, [records.index(record) for record in some]))
        assert found.vectors.tobytes() == whole.vectors[there].tobytes()
        bags = [found.ids[a:b].tolist() for a, b in pairwise(found.pointers.tolist())]
        assert bags == [whole.ids[whole.pointers[i] : whole.pointers[i + 1]].tolist() for i in there.tolist()]


def test_nothing_to_embed(encoder: Encoder) -> None:
    found = embed(fields_of([]), encoder)
    assert (found.vectors.shape, found.pointers.tolist(), found.ids.tolist()) == ((0, 192), [0], [])


# --- models that read text --------------------------------------------------------------------------------------------


class Store(dict):
    """A cache like that of the index, in memory."""

    def get(self, keys: list[bytes]) -> dict[bytes, bytes]:  # type: ignore[override]
        assert len(keys) == len(set(keys)) <= embedding.LOOKUP_SLICE
        return {key: self[key] for key in keys if key in self}

    def put(self, items: Mapping[bytes, bytes]) -> None:
        assert not set(items) & set(self)
        self.update(items)


def quiet(_stage: str, _done: int, _total: int) -> None:
    pass


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SegmentRows:
    """23 chunks, of which the last three repeat earlier ones."""
    monkeypatch.setattr(embedding, "TEXT_SLICE", 4)
    monkeypatch.setattr(embedding, "LOOKUP_SLICE", 7)
    folder = tmp_path / "repo"
    for i in range(20):
        (folder / f"{i:02}").mkdir(parents=True)
        (folder / f"{i:02}" / "a.txt").write_text(" ".join(tiny.WORDS[4 + (i + k) % 14] for k in range(1 + i)))
    for i in range(3):
        (folder / "z" / f"{i:02}" / "19").mkdir(parents=True)
        (folder / "z" / f"{i:02}" / "19" / "a.txt").write_text((folder / "19" / "a.txt").read_text())
    # What is embedded of a path is its end.
    monkeypatch.setattr("lci_py.index.shards.text_fields.EMBEDDED_FOLDERS", 1)
    found = number_rows(extracted(folder, texts=True))
    assert len(found.chunk_unit) == 23
    return found


def contextual(folder: Path, seed: int = 0) -> ContextualEncoder:
    found = open_encoder(ModelFolder(tiny.contextual(folder, seed=seed)))
    assert isinstance(found, ContextualEncoder)
    return found


def spied(encoder: ContextualEncoder, monkeypatch: pytest.MonkeyPatch, stop_after: int = 1 << 30) -> list[int]:
    """Record how many texts each call embeds; interrupt it after some calls."""
    real: Callable[[list[str]], np.ndarray] = encoder.encode_chunks
    sizes: list[int] = []

    def encode(texts: list[str]) -> np.ndarray:
        if len(sizes) == stop_after:
            raise KeyboardInterrupt
        sizes.append(len(texts))
        return real(texts)

    monkeypatch.setattr(encoder, "encode_chunks", encode)
    return sizes


def pending(rows: SegmentRows, encoder_key: str, store: Store) -> int:
    """How many chunks have no vector in the store."""
    return sum(embedding.vector_key(text, encoder_key) not in store for text in embedding.chunk_texts(rows))


def test_a_text_is_embedded_once(tmp_path: Path, rows: SegmentRows, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, store = contextual(tmp_path / "model"), Store()
    expected = encoder.encode_chunks(list(embedding.chunk_texts(rows)))
    assert embed_texts(rows, encoder, quiet, Store()).tobytes() == expected.tobytes()
    assert pending(rows, encoder.sha256, store) == 23
    sizes = spied(encoder, monkeypatch)
    assert embed_texts(rows, encoder, quiet, store).tobytes() == expected.tobytes()
    assert sizes == [4] * 5 and len(store) == 20  # equal texts are one
    assert pending(rows, encoder.sha256, store) == 0
    sizes.clear()
    assert embed_texts(rows, encoder, quiet, store).tobytes() == expected.tobytes()
    assert sizes == []


def test_an_interrupted_run_keeps_what_it_has(
    tmp_path: Path, rows: SegmentRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, store = contextual(tmp_path / "model"), Store()
    with monkeypatch.context() as patch:
        spied(encoder, patch, stop_after=3)
        with pytest.raises(KeyboardInterrupt):
            embed_texts(rows, encoder, quiet, store)
    assert len(store) == 12
    assert pending(rows, encoder.sha256, store) == 11  # of 8 texts
    sizes = spied(encoder, monkeypatch)
    found = embed_texts(rows, encoder, quiet, store)
    assert sizes == [4, 4]
    assert found.tobytes() == embed_texts(rows, contextual(tmp_path / "model"), quiet, Store()).tobytes()


def test_another_model_has_other_vectors(tmp_path: Path, rows: SegmentRows) -> None:
    store = Store()
    first, second = (contextual(tmp_path / str(seed), seed) for seed in (1, 2))
    vectors = embed_texts(rows, first, quiet, store)
    assert pending(rows, second.sha256, store) == 23
    others = embed_texts(rows, second, quiet, store)
    assert len(store) == 40 and not np.allclose(vectors, others)
    assert embed_texts(rows, first, quiet, store).tobytes() == vectors.tobytes()


class Rotten(Store):
    def put(self, items: Mapping[bytes, bytes]) -> None:
        self.update(items)


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 31, b"\0" * 64, np.full(8, np.nan, np.float32).tobytes()],
    ids=("none", "short", "long", "nan"),
)
def test_what_is_no_vector_is_embedded_again(tmp_path: Path, rows: SegmentRows, data: bytes) -> None:
    encoder, store = contextual(tmp_path / "model"), Rotten()
    vectors = embed_texts(rows, encoder, quiet, store)
    store[next(iter(store))] = data
    assert embed_texts(rows, encoder, quiet, store).tobytes() == vectors.tobytes()
    assert all(len(value) == 32 for value in store.values())
