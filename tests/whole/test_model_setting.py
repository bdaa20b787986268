"""`--model`, LCI_MODEL and .lci.toml: which model makes an index, and which one may search it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lci_py import app
from lci_py.embed.folder import ModelFolder
from lci_py.errors import BadModelError, ModelMismatchError
from lci_py.index.build import embedding
from lci_py.index.build.changes import TICK_NS
from lci_py.index.shards.segment_rows import number_rows
from lci_py.types.search import SearchRequest
from lci_py.types.source import FileEntry
from tests.conftest import Ran
from tests.support import tiny_models as tiny
from tests.support.records import process_file

CODE = "class Pool:\n    def close(self):\n        return remove(session)\n"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LCI_MODEL", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {
        "x/y/z/pool.py": CODE,
        "x/notes.txt": "open a file\n",
        "cookie.py": "def expired(cookie):\n    return cookie\n",
    }.items():
        (tmp_path / "repo" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / path).write_text(text)
    return tmp_path / "repo"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny.contextual(tmp_path / "bert")


def manifest(root: Path) -> dict:
    return json.loads((root / ".lci" / "manifest.json").read_text())


def test_a_record_holds_texts_only_if_they_are_asked_for(root: Path) -> None:
    entry = FileEntry("x/y/z/pool.py", len(CODE), 0)
    plain, full = process_file(root, entry), process_file(root, entry, texts=True)
    assert not isinstance(plain, str) and not isinstance(full, str)
    assert (plain.bag_sizes, plain.bag_words, plain.bag_counts) == (full.bag_sizes, full.bag_words, full.bag_counts)
    assert {chunk.text for chunk in plain.extract.chunks} == {""}
    assert "return remove(session)" in full.extract.chunks[-1].text


def test_what_is_embedded(root: Path) -> None:
    paths = ("cookie.py", "x/notes.txt", "x/y/z/pool.py")
    records = [process_file(root, FileEntry(path, 1, 0), texts=True) for path in paths]
    texts = list(embedding.chunk_texts(number_rows([one for one in records if not isinstance(one, str)])))
    assert texts[0] == "cookie.py\nfunction expired\ndef expired(cookie):\n    return cookie"
    assert texts[1].split("\n")[:2] == ["x/notes.txt", "open a file"]  # a block has no name
    assert texts[-1] == "y/z/pool.py\nmethod Pool.close\n    def close(self):\n        return remove(session)"


@pytest.mark.parametrize("make", [tiny.contextual, tiny.bags])
def test_index_and_search_with_another_model(
    root: Path, tmp_path: Path, lci: Callable[..., Ran], make: Callable[[Path], Path]
) -> None:
    make(tmp_path / "other")
    ran = lci("index", "--json", "--model", "../other", cwd=root)
    assert (ran.code, ran.err) == (0, "")
    noted = manifest(root)["model"]
    assert (noted["name"], noted["dimension"]) == ("other", tiny.DIMENSION)
    assert (noted["sha256"], noted["folder"]) == (ModelFolder(tmp_path / "other").sha256, str(tmp_path / "other"))
    assert [("tokens" in part["shards"]) for part in manifest(root)["segments"]] == [make is tiny.bags]
    found = lci("search", "return remove session", "--json", "--model", "../other", cwd=root)
    assert (found.code, found.err) == (0, "")
    first = found.json()["results"][0]
    assert first["mode_source"] == "dense" and 0 < first["mode_score"] <= 3  # 1 more for a name, and for a text
    assert lci("status", "--json", cwd=root).json()["model"] == {
        key: noted[key] for key in noted if key not in ("stamp", "reads_text")
    }
    again = lci("index", "--json", "--model", str(tmp_path / "other"), cwd=root)
    assert again.json()["changed"] is False


def test_the_vectors_are_the_models(root: Path, model: Path) -> None:
    app.build_index(str(root), jobs=1, model=str(model))
    with app.open_engine(str(root), str(model)) as session:
        vector = session.snapshot.encoder.encode_text("x notes txt open a file")
        cosines = session.snapshot.dense.index.best(session.snapshot.dense.index.cosines(vector))
        assert len(cosines) == int(manifest(root)["counts"]["units"])
        text = "x/notes.txt\nopen a file"
        query = session.snapshot.encoder.encode_text(text)
        cosines = session.snapshot.dense.index.best(session.snapshot.dense.index.cosines(query))
        np.testing.assert_allclose(cosines.max(), 1, atol=1e-5)
        assert session.snapshot.unit_table.paths[session.snapshot.unit_table.file[cosines.argmax()]] == "x/notes.txt"


def test_the_number_of_jobs_does_not_change_the_index(root: Path, model: Path, lci: Callable[..., Ran]) -> None:
    shards = []
    time.sleep(2e-9 * TICK_NS)  # of a file as young as the walk no time is kept: it may change again within it
    for jobs in ("1", "3"):
        assert lci("index", "--full", "-j", jobs, "--model", str(model), cwd=root).code == 0
        found = manifest(root)
        # The table of files has times, and who made what is cached.
        tables = [*(part["shards"] for part in found["segments"]), {"graph": found["shards"]["graph"]}]
        shards.append([{name: shard["sha"] for name, shard in table.items()} for table in tables])
    assert shards[0] == shards[1]


def test_flag_beats_environment_beats_file(root: Path, tmp_path: Path, model: Path, lci: Callable[..., Ran]) -> None:
    tiny.contextual(root / "tools" / "model", seed=1)
    (root / ".lci.toml").write_text('model = "tools/model"\n')

    def name(*args: str, **env: str) -> str:
        ran = lci("index", *args, "--json", cwd=root / "x", **env)
        assert ran.code == 0, ran.out
        return manifest(root)["model"]["folder"]

    app.build_index(str(root), jobs=1)
    assert manifest(root)["model"]["folder"] == str(root / "tools" / "model")  # from the root, not from here
    assert name() == str(root / "tools" / "model")
    assert name(LCI_MODEL=str(model)) == str(model)
    assert name("--model", "../tools/model", LCI_MODEL=str(model)) == str(root / "tools" / "model")
    assert lci("search", "close", cwd=root / "x").code == 0
    assert lci("search", "close", cwd=root / "x", LCI_MODEL=str(model)).code == 3


@pytest.mark.parametrize("where", ["../other", "absolute", "tools/link"])
def test_the_file_of_a_clone_does_not_lead_out_of_it(
    root: Path, tmp_path: Path, model: Path, lci: Callable[..., Ran], where: str
) -> None:
    (root / "tools").mkdir(exist_ok=True)
    (root / "tools" / "link").symlink_to(model)
    (root / ".lci.toml").write_text(f'model = "{model if where == "absolute" else where}"\n')
    for command in (("index", str(root)), ("search", "close", "--root", str(root))):
        ran = lci(*command, "--json")
        assert ran.code == 2
        assert ran.json()["error"]["code"] == "bad_config" and "leads out of" in ran.json()["error"]["message"]
    (root / ".lci.toml").unlink()
    assert lci("index", str(root), LCI_MODEL=str(model)).code == 0  # what the user names may be anywhere


def test_the_index_follows_the_model(root: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.build_index(str(root), jobs=1).changed
    assert app.build_index(str(root), jobs=1, model=str(model)).changed
    with monkeypatch.context() as patch:  # the stamp of its files is enough
        patch.setattr(ModelFolder, "computed_sha256", lambda self: pytest.fail("hashed again"))
        assert not app.build_index(str(root), jobs=1, model=str(model)).changed
        with app.open_engine(str(root), str(model)) as session:
            assert session.search(SearchRequest("close")).results
    before = manifest(root)["model"]
    (model / "tokenizer.json").touch()
    assert not app.build_index(str(root), jobs=1, model=str(model)).changed
    after = manifest(root)["model"]
    assert before["stamp"] != after["stamp"] and before["sha256"] == after["sha256"]
    tiny.contextual(model, seed=2)
    assert app.build_index(str(root), jobs=1, model=str(model)).changed
    assert app.build_index(str(root), jobs=1).changed
    assert "folder" not in manifest(root)["model"]


def test_another_model_is_an_error_that_says_what_to_run(root: Path, model: Path, lci: Callable[..., Ran]) -> None:
    app.build_index(str(root), jobs=1, model=str(model))
    ran = lci("search", "close", "--json", cwd=root)
    error = ran.json()["error"]
    assert (ran.code, error["code"], ran.err) == (3, "model_mismatch", "")
    assert "built with model bert (" in error["message"] and "asks for lci-static-192 (" in error["message"]
    assert f"`lci search --model {model}`" in error["hint"] and "`lci index`" in error["hint"]
    said = lci("search", "close", cwd=root)
    assert (said.code, said.out, said.err.count("\n")) == (3, "", 1)
    assert lci("search", "close", "--mode", "bm25", cwd=root).code == 0
    several = lci("search", "close", "--mode", "multiview", "--json", "--strict", cwd=root)
    assert several.code == 4 and several.json()["results"]
    assert [item["failure_mode"] for item in several.json()["degraded"]] == ["model_mismatch"]
    assert lci("search", "close", "--mode", "multiview", "--strict", "--model", str(model), cwd=root).code == 0


def test_the_hint_fits_what_was_asked_for(root: Path, tmp_path: Path, model: Path) -> None:
    def hint(asked: Path | None) -> str:
        with app.open_engine(str(root), asked and str(asked)) as session, pytest.raises(ModelMismatchError) as caught:
            session.search(SearchRequest("close"))
        return caught.value.hint

    app.build_index(str(root), jobs=1)
    assert hint(model).startswith(f"run `lci index --model {model}` to index anew, or search without --model")
    app.build_index(str(root), jobs=1, model=str(model))
    other = tiny.contextual(tmp_path / "an other", seed=3)
    assert f"`lci search --model {model}`" in hint(other) and f"`lci index --model '{other}'`" in hint(other)
    tiny.contextual(model, seed=4)  # the folder is the same, the model is not
    assert hint(model) == f"run `lci index --model {model}` to index anew"


def test_a_batch_hashes_the_model_once(root: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app.build_index(str(root), jobs=1)
    calls: list[ModelFolder] = []
    real = ModelFolder.computed_sha256
    monkeypatch.setattr(ModelFolder, "computed_sha256", lambda self: calls.append(self) or real(self))
    with app.open_engine(str(root), str(model)) as session:
        for _ in range(3):
            with pytest.raises(ModelMismatchError):
                session.search(SearchRequest("close"))
    assert len(calls) == 1


def test_a_damaged_model_keeps_the_index(root: Path, model: Path, lci: Callable[..., Ran]) -> None:
    app.build_index(str(root), jobs=1)
    before = manifest(root)
    (model / "model.onnx").write_bytes(b"garbage")
    for command in (("index",), ("search", "close")):
        ran = lci(*command, "--json", "--model", str(model / "none"), cwd=root)
        assert (ran.code, ran.json()["error"]["code"], ran.err) == (2, "bad_model", "")
    ran = lci("index", "--model", str(model), cwd=root)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "onnxruntime cannot load it" in ran.err
    assert manifest(root) == before
    assert lci("search", "close", cwd=root).code == 0
    with pytest.raises(BadModelError), app.open_engine(str(root), "nowhere") as session:
        session.search(SearchRequest("close", "multiview"))


def test_an_empty_repository(tmp_path: Path, model: Path) -> None:
    (tmp_path / "empty").mkdir()
    app.build_index(str(tmp_path / "empty"), jobs=1, model=str(model))
    with app.open_engine(str(tmp_path / "empty"), str(model)) as session:
        assert session.search(SearchRequest("close")).results == ()
