"""Embedding without repeating work: copying equals computing, and a text is embedded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lci_py.embed.contextual import ContextualEncoder
from lci_py.embed.encoder import Encoder, open_encoder
from lci_py.embed.folder import ModelFolder
from lci_py.errors import DamagedIndexError
from lci_py.index.build import embedding
from lci_py.index.build.embedding import EmbeddedChunks, Embeddings, Reuse, copy_embedding, embed, embed_texts
from lci_py.index.shards.dense import write_dense
from lci_py.index.shards.segment_rows import SegmentRows, number_rows
from lci_py.index.shards.text_fields import text_fields
from lci_py.index.shards.tokens import write_tokens
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


class Files:
    """Some files' chunks, embedded, and on disk as a segment."""

    def __init__(self, records: list[FileRecord], encoder: Encoder, reuse: Reuse | None = None) -> None:
        rows = number_rows(records)
        self.owner = np.array(rows.chunk_file)
        self.units = np.array(rows.chunk_unit, np.int64)
        self.paths = [record.path for record in records]
        self.text = text_fields(rows)
        self.embedded = embed(self.text, encoder, reuse)

    def stored(self, folder: Path, embedded: EmbeddedChunks | None = None) -> Embeddings:
        found = embedded or self.embedded
        folder.mkdir()
        write_dense(folder / "d.faiss", found.vectors, self.units)
        write_tokens(folder / "t.arrays", found.parts, found.pieces, found.pointers, found.ids)
        counts = {"chunks": len(self.units), "units": int(self.units.max()) + 1}
        return Embeddings(folder / "d.faiss", folder / "t.arrays", dimension=192, counts=counts)

    def rows_in(self, other: Files) -> np.ndarray:
        """Per chunk: the same file's chunk of another segment, -1 if it is not there."""
        found = np.full(len(self.units), -1, np.int64)
        for i, path in enumerate(self.paths):
            if path in other.paths:
                found[self.owner == i] = np.flatnonzero(other.owner == other.paths.index(path))
        return found


def same(left: EmbeddedChunks, right: EmbeddedChunks) -> bool:
    return (
        left.vectors[:].tobytes() == right.vectors[:].tobytes()
        and left.pointers.tolist() == right.pointers.tolist()
        and left.ids.tolist() == right.ids.tolist()
    )


class Counting(Encoder):
    """Count the bags and parts that are computed."""

    bags = parts = 0

    def encode_bags(self, indptr: np.ndarray, *args: object, **more: object) -> np.ndarray:
        self.bags += int((np.diff(indptr) > 0).sum())
        return super().encode_bags(indptr, *args, **more)

    def pieces(self, texts: list[str]) -> list[list[int]]:
        self.parts += len(texts)
        return super().pieces(texts)


@settings(max_examples=6)
@given(seed=st.integers(0, 1 << 20), segments=st.integers(1, 3), size=st.sampled_from([1, 7, 100, 8192]))
def test_copying_equals_computing(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[FileRecord],
    encoder: Encoder,
    seed: int,
    segments: int,
    size: int,
) -> None:
    """Whichever files older segments have, several of them even, and in slices of any size."""
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("reuse")
    everything = Files(records, encoder)
    older = [
        Files([records[i] for i in sorted(rng.choice(len(records), rng.integers(1, 9), replace=False))], encoder)
        for _ in range(segments)
    ]
    sources = [files.stored(folder / str(i)) for i, files in enumerate(older)]
    reuse = Reuse(sources, [everything.rows_in(files) for files in older])
    counting = Counting()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "EMBED_SLICE", size)
        found = Files(records, counting, reuse)
    assert same(found.embedded, everything.embedded)
    assert dict(zip(found.embedded.parts, found.embedded.pieces, strict=True)) == dict(
        zip(everything.embedded.parts, everything.embedded.pieces, strict=True)
    )
    there = {path for files in older for path in files.paths}
    new = [i for i, path in enumerate(everything.paths) if path not in there]
    assert counting.bags == np.isin(everything.owner, new).sum()
    assert counting.parts == len(set(found.embedded.parts).difference(*(files.embedded.parts for files in older)))


@pytest.mark.parametrize("size", [1, 7, 8192])
def test_a_segment_of_moved_files_is_copied(
    tmp_path: Path, records: list[FileRecord], encoder: Encoder, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(embedding, "EMBED_SLICE", size)
    older = [Files(records[::2], encoder), Files(records[1:], encoder)]  # some files are in both
    sources = [files.stored(tmp_path / str(i)) for i, files in enumerate(older)]
    some = Files(records[3:15], encoder)
    found = copy_embedding(Reuse(sources, [some.rows_in(files) for files in older]), 192)
    assert same(found, some.embedded)
    known = dict(zip(found.parts, found.pieces, strict=True))
    assert all(known[part] == ids for part, ids in zip(some.embedded.parts, some.embedded.pieces, strict=True))
    # On disk as well, in slices.
    monkeypatch.setattr("lci_py.index.shards.dense.BLOCK", size)
    some.stored(tmp_path / "copied", found)
    some.stored(tmp_path / "computed")
    assert (tmp_path / "copied" / "d.faiss").read_bytes() == (tmp_path / "computed" / "d.faiss").read_bytes()


def test_a_chunk_that_is_nowhere_cannot_be_copied(tmp_path: Path, records: list[FileRecord], encoder: Encoder) -> None:
    older = Files(records[:5], encoder)
    rows = np.array([0, -1, 1])
    with pytest.raises(ValueError, match="no older segment"):
        copy_embedding(Reuse([older.stored(tmp_path / "s")], [rows]), 192)


def test_nothing_to_embed(encoder: Encoder) -> None:
    found = embed(text_fields(number_rows([])), encoder)
    assert (found.vectors.shape, found.pointers.tolist(), found.ids.tolist()) == ((0, 192), [0], [])
    assert copy_embedding(Reuse([], []), 192).vectors.shape == (0, 192)


def test_a_damaged_older_segment_is_a_typed_error(tmp_path: Path, records: list[FileRecord], encoder: Encoder) -> None:
    files = Files(records[:5], encoder)
    files.stored(tmp_path / "s")
    counts = {"chunks": len(files.units) + 1, "units": len(files.units)}
    for tokens in (tmp_path / "s" / "t.arrays", None):
        with pytest.raises(DamagedIndexError):
            Embeddings(tmp_path / "s" / "d.faiss", tokens, dimension=192, counts=counts)


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
