"""Text to vectors: a static token table in ONNX, run by onnxruntime on bags of WordPiece tokens.

A text is embedded as the weighted sum of its tokens' rows, scaled to unit length; word order does not matter, so a
chunk travels as a bag and is never put together again. Source of the model: docs/model.md.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import ModelMismatchError
from lci_py.source.words import WORD, parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_DIR = Path(__file__).resolve().parent / "model"
_MODEL, _TOKENIZER, _CHECKSUM = "model.onnx", "tokenizer.json", "model.sha256"
_CELLS = 16_384  # tokens of one batch, padding included: larger ones fall out of the processor's cache
MAX_TOKENS = 512  # distinct tokens of one text; the most frequent are kept


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
    def sha256(self) -> str:
        """Hash of the weights and the tokenizer: two indexes are comparable only if it is the same."""
        known = self.folder / _CHECKSUM
        if self.folder == MODEL_DIR and known.is_file():
            return known.read_text("ascii").split()[0]  # shipped beside the weights; a test recomputes it
        return self.computed_sha256()

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
        return int(self._session.get_outputs()[0].shape[-1])

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

    def encode_text(self, text: str) -> NDArray[np.float32]:
        """Embed one text, such as a query: [dimension], zeros if it has no known token."""
        import numpy as np

        pieces = self.pieces([part for word in WORD.findall(text) for part in parts(word)])
        counts = Counter(piece for ids in pieces for piece in ids)
        ids = np.array(list(counts), np.int64)
        weights = np.array([tf_weight(count) for count in counts.values()], np.float32)
        vector: NDArray[np.float32] = self.encode_bags(np.array([0, len(ids)], np.int64), ids, weights)[0]
        return vector
