"""Text to vectors: a static token table in ONNX, run by onnxruntime on bags of WordPiece tokens.

A text is embedded as the weighted sum of its tokens' rows, scaled to unit length; word order does not matter, so a
chunk travels as a bag and is never put together again. Source of the model: docs/model.md.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import ModelMismatchError
from lci_py.source.words import WORD, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

MODEL_DIR = Path(__file__).resolve().parent / "model"
_MODEL, _TOKENIZER, _CARD = "model.onnx", "tokenizer.json", "model.json"
_CELLS = 16_384  # tokens of one batch, padding included: larger ones fall out of the processor's cache
MAX_TOKENS = 512  # distinct tokens of one text; further ones are left out


def tf_weight(count: float) -> float:
    """Weight of a token that occurs `count` times: 1 + ln(count)."""
    return 1.0 + math.log(count)


class Encoder:
    """A loaded model folder (`model.onnx`, `tokenizer.json`). Loading is lazy; instances are not thread-safe."""

    def __init__(self, folder: Path = MODEL_DIR, *, threads: int = 1) -> None:
        self.folder = folder
        self.threads = threads
        for name in (_MODEL, _TOKENIZER):
            if not (folder / name).is_file():
                raise ModelMismatchError(f"no {name} in the model folder {folder}", hint="reinstall lci-py")

    @cached_property
    def _card(self) -> dict[str, Any]:
        """What is written beside the weights: their hash, and where their table lies in the ONNX file."""
        if self.folder != MODEL_DIR:
            return {}  # only our own card is known to be true; a test recomputes it
        try:
            card: dict[str, Any] = json.loads((self.folder / _CARD).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return card

    @cached_property
    def sha256(self) -> str:
        """Hash of the weights and the tokenizer: two indexes are comparable only if it is the same."""
        return str(self._card.get("sha256") or self.computed_sha256())

    def computed_sha256(self) -> str:
        """The same hash, from the files."""
        digest = hashlib.sha256()
        for name in (_MODEL, _TOKENIZER):
            digest.update((self.folder / name).read_bytes())
        return digest.hexdigest()

    @property
    def name(self) -> str:
        return "lci-static-256" if self.folder == MODEL_DIR else self.folder.name

    @cached_property
    def dimension(self) -> int:
        return int(self._card.get("dimension") or self._session.get_outputs()[0].shape[-1])

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # The graph is six nodes; optimising it takes longer than a query.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        return onnxruntime.InferenceSession(str(self.folder / _MODEL), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.folder / _TOKENIZER))

    def pieces(self, texts: list[str]) -> list[list[int]]:
        """Token ids of each text (identifier parts, usually)."""
        return [item.ids for item in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def encode_bags(
        self, indptr: NDArray[np.int64], ids: NDArray[np.int64], weights: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Embed bags of tokens.

        Args:
            indptr: [n + 1] where each bag starts in `ids`.
            ids: [total] distinct token ids of each bag.
            weights: [total] positive weight of each token.
        Returns:
            [n, dimension], rows of unit length; an empty bag is a row of zeros.
        """
        import numpy as np

        lengths = np.minimum(np.diff(indptr), MAX_TOKENS)
        out = np.zeros((len(lengths), self.dimension), np.float32)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        start = 0
        while start < len(order):
            stop = self._batch_end(lengths, order, start)
            rows = order[start:stop]
            width = int(lengths[rows[-1]])
            columns = np.arange(width)
            used = columns < lengths[rows][:, None]
            positions = np.where(used, indptr[rows][:, None] + columns, 0)
            batch_ids = np.where(used, ids[positions], 0).astype(np.int64)
            batch_weights = np.where(used, weights[positions], 0).astype(np.float32)
            out[rows] = self._session.run(None, {"ids": batch_ids, "w": batch_weights})[0]
            start = stop
        np.nan_to_num(out, copy=False)
        return out

    @staticmethod
    def _batch_end(lengths: NDArray[np.int64], order: NDArray[np.int64], start: int) -> int:
        # Sorted by length, so the last row sets the width: grow while the padded batch fits.
        stop = start + max(1, _CELLS // int(lengths[order[start]]))
        while (
            stop - start > 1
            and (min(stop, len(order)) - start) * int(lengths[order[min(stop, len(order)) - 1]]) > _CELLS
        ):
            stop = start + max(1, (stop - start) * 3 // 4)
        return min(stop, len(order))

    def encode_text(self, text: str, known: Callable[[str], list[int] | None] | None = None) -> NDArray[np.float32]:
        """Embed one text, such as a query: [dimension], zeros if it has no known token.

        The same vector as `encode_bags` gives, but read straight from the table in the ONNX file: starting
        onnxruntime and the tokenizer takes longer than everything else in a query (docs/adr/0004-query-start-up.md).

        Args:
            text: The text.
            known: Token ids of an identifier part if somebody knows them (the index does, for its own words); what it
                answers None for goes through the tokenizer.
        """
        import numpy as np

        counts: Counter[int] = Counter()
        unknown: list[str] = []
        for word in WORD.findall(text):
            for part in parts(word):
                ids = known(part) if known else None
                if ids is None:
                    unknown.append(part)
                else:
                    counts.update(ids)
        if unknown:
            counts.update(piece for ids in self.pieces(unknown) for piece in ids)
        ids_array = np.array(sorted(counts), np.int64)
        weights = np.array([tf_weight(counts[piece]) for piece in sorted(counts)], np.float32)
        table = self._card.get("table")
        if not table:
            rows = self.encode_bags(np.array([0, len(ids_array)], np.int64), ids_array, weights)
            return np.asarray(rows[0])
        shape = (int(table["rows"]), self.dimension)
        path = self.folder / _MODEL
        codes = np.memmap(path, np.int8, "r", int(table["codes_offset"]), shape)
        scales = np.memmap(path, np.float16, "r", int(table["scales_offset"]), shape[:1])
        vector = (weights * scales[ids_array].astype(np.float32)) @ codes[ids_array].astype(np.float32)
        norm = float(np.linalg.norm(vector))
        return np.asarray(vector / np.float32(norm) if norm > 0 else vector, np.float32)
