"""A model folder: its files, their hash, and how to load them. Imports nothing heavy."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from lci_py.errors import BadModelError, LciError
from lci_py.source.text import blake2b

MODEL_DIR = Path(__file__).resolve().parent / "model"
BUILTIN_NAME = "lci-static-192"
_MODELS = ("model.onnx", os.path.join("onnx", "model.onnx"))
_TOKENIZER, _CARD = "tokenizer.json", "model.json"
#: Files of sentence-transformers that change the vectors; each may be missing.
POOLING = os.path.join("1_Pooling", "config.json")
SETTINGS = (
    "config.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    POOLING,
)
_BLOCK = 1 << 20


class ModelFolder:
    """The files of one model.

    Raises:
        BadModelError: The folder does not hold what a model needs.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.builtin = path is None or os.path.realpath(path) == str(MODEL_DIR)
        self.path = MODEL_DIR if path is None or self.builtin else Path(os.path.abspath(path))
        if not os.path.isdir(self.path):
            what = "is not a folder" if os.path.lexists(self.path) else "does not exist"
            raise BadModelError(f"the model folder {self.path} {what}", hint=self._hint)
        self.onnx = self._find_onnx()
        self.tokenizer = self.path / _TOKENIZER
        if not os.path.isfile(self.tokenizer):
            raise BadModelError(f"no {_TOKENIZER} in the model folder {self.path}", hint=self._hint)

    @property
    def _hint(self) -> str:
        return "reinstall lci-py" if self.builtin else "it must hold model.onnx and tokenizer.json (docs/model.md)"

    def _find_onnx(self) -> Path:
        for name in _MODELS:
            if os.path.isfile(self.path / name):
                return self.path / name
        with refusing(self.path, "it cannot be read"):
            names = [name for name in sorted(os.listdir(self.path)) if name.endswith(".onnx")]
        if len(names) == 1 and os.path.isfile(self.path / names[0]):
            return self.path / names[0]
        what = f"{len(names)} .onnx files, none called model.onnx," if len(names) > 1 else "no model.onnx"
        raise BadModelError(f"{what} in the model folder {self.path}", hint=self._hint)

    @property
    def name(self) -> str:
        return BUILTIN_NAME if self.builtin else Path(os.path.realpath(self.path)).name

    @cached_property
    def card(self) -> dict[str, Any]:
        """The card of the built-in model: its hash, and its table's offsets in the ONNX file; {} for another model."""
        if not self.builtin:
            return {}  # only our own card is checked, by a test
        try:
            card: dict[str, Any] = json.loads((self.path / _CARD).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return card

    def settings(self, name: str) -> dict[str, Any]:
        """The content of a JSON file of the folder; {} if the file does not exist."""
        path = self.path / name
        if not os.path.isfile(path):
            return {}
        with refusing(path, "it is not valid JSON"):
            data = json.loads(path.read_bytes())
        if not isinstance(data, dict):
            raise BadModelError(f"{path}: it is not a JSON object", hint=self._hint)
        return data

    def _files(self) -> list[Path]:
        """The files that determine the vectors; weights and tokenizer come first."""
        # Weights of more than 2 GB are in extra files: model.onnx_data, model.onnx.data.
        with refusing(self.path, "it cannot be read"):
            beside = [name for name in sorted(os.listdir(self.onnx.parent)) if name.startswith(self.onnx.name)]
        extra = [] if self.builtin else [self.onnx.parent / name for name in beside if name != self.onnx.name]
        extra += [] if self.builtin else [self.path / name for name in SETTINGS]
        return [self.onnx, self.tokenizer, *(path for path in extra if os.path.isfile(path))]

    @cached_property
    def sha256(self) -> str:
        """Hash of the model: only vectors with the same hash are comparable."""
        return str(self.card.get("sha256") or self.computed_sha256())

    def computed_sha256(self) -> str:
        """The hash that `sha256` stands for, computed from the files."""
        import hashlib  # here, because it takes 2 ms, and most models need no hash

        digest = hashlib.sha256()
        for number, path in enumerate(self._files()):
            if number > 1:
                digest.update(f"\0{path.relative_to(self.path).as_posix()}\0".encode("utf-8", "surrogateescape"))
            with refusing(path, "it cannot be read"), open(path, "rb") as handle:
                while block := handle.read(_BLOCK):
                    digest.update(block)
        return digest.hexdigest()

    @cached_property
    def stamp(self) -> str:
        """Hash of the names, sizes and times of the files: while it is the same, they need not be hashed again."""
        digest = blake2b(os.fsencode(os.path.realpath(self.path)), digest_size=16)
        for path in self._files():
            with refusing(path, "it cannot be read"):
                info = os.stat(path)
            digest.update(
                f"\0{path.name}\0{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns}".encode(errors="replace")
            )
        return digest.hexdigest()

    def record(self) -> dict[str, object]:
        """The entry of an index about a model, apart from name, hash and dimension; {} for the built-in model."""
        if self.builtin:
            return {}
        return {"folder": os.fsencode(self.path).decode("utf-8", "replace"), "stamp": self.stamp}

    def recall(self, recorded: Mapping[str, Any]) -> None:
        """Adopt the hash that an index has stored for the model, if the files have not changed since."""
        digest = recorded.get("sha256")
        if not self.builtin and isinstance(digest, str) and recorded.get("stamp") == self.stamp:
            self.__dict__["sha256"] = digest  # where cached_property looks first


@contextmanager
def refusing(path: Path, problem: str) -> Iterator[None]:
    """A context manager that turns any library error about a file into a one-line BadModelError with its name."""
    try:
        yield
    except (LciError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic inside tokenizers is not an Exception
        text = " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())
        reason = text if len(text) <= 200 else text[:199] + "…"
        hint = "see docs/model.md for what a model folder holds"
        raise BadModelError(f"{path}: {problem} ({reason})", hint=hint) from error


def _require(library: str, folder: ModelFolder) -> None:
    from importlib.util import find_spec

    if find_spec(library) is None:
        hint = "pip install 'lci-py[model]', or leave the model out"
        raise BadModelError(f"the model {folder.path} needs the extra model, which is not installed", hint=hint)


def import_onnxruntime() -> Any:
    """Import onnxruntime with its telemetry off; nothing else may import it.

    Builds since 1.30 otherwise report over the network, and keep a device number and a database in the home folder.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = os.environ["ORT_TELEMETRY_DISABLED"] = "1"
    import onnxruntime

    return onnxruntime


def load_session(folder: ModelFolder, *, threads: int = 1, optimised: bool = True) -> Any:
    """An onnxruntime session on the CPU."""
    _require("onnxruntime", folder)
    with refusing(folder.onnx, "onnxruntime cannot load it"):
        onnxruntime = import_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised; do not print them too
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
        return onnxruntime.InferenceSession(str(folder.onnx), options, providers=["CPUExecutionProvider"])


def load_tokenizer(folder: ModelFolder) -> Any:
    """The tokenizer of a model folder."""
    _require("tokenizers", folder)
    with refusing(folder.tokenizer, "tokenizers cannot read it"):
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(folder.tokenizer))
