"""Text to vectors: a static token table in ONNX, run by onnxruntime on bags of WordPiece tokens.

A text is embedded as the weighted sum of its tokens' rows, scaled to unit length; word order does not matter, so a
chunk travels as a bag and is never put together again. Source of the model: docs/model.md.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.embed.folder import MODEL_DIR, ModelFolder, load_session, load_tokenizer, refusing
from lci_py.errors import BadModelError
from lci_py.source.words import WORD, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

_CELLS = 16_384  # tokens of one batch, padding included: larger ones fall out of the processor's cache
MAX_TOKENS = 512  # distinct tokens of one text; further ones are left out


def tf_weight(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Weight of tokens that occur `counts` times: 1 + ln(count)."""
    import numpy as np

    return np.asarray(1.0 + np.log(counts), np.float32)


class Encoder:
    """A model of bags: inputs `ids` and `w`, both [batch, tokens]. Loading is lazy; instances are not thread-safe."""

    reads_text = False  # it takes bags

    def __init__(self, folder: Path | ModelFolder = MODEL_DIR, *, threads: int = 1) -> None:
        self.folder = folder if isinstance(folder, ModelFolder) else ModelFolder(folder)
        self.threads = threads

    @property
    def sha256(self) -> str:
        return self.folder.sha256

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def dimension(self) -> int:
        size = self.folder.card.get("dimension") or self._session.get_outputs()[0].shape[-1]
        if not isinstance(size, int):
            raise BadModelError(f"{self.folder.onnx}: its output has no fixed dimension", hint="see docs/model.md")
        return size

    def check(self) -> None:
        """Load everything, and embed one token.

        Raises:
            BadModelError: Something does not load, or it is no model of bags.
        """
        import numpy as np

        self.pieces(["a"])
        self.encode_bags(np.array([0, 1], np.int64), np.zeros(1, np.int64), np.ones(1, np.float32))

    @cached_property
    def _session(self) -> Any:
        # The graph is six nodes; optimising it takes longer than a query.
        return load_session(self.folder, threads=self.threads, optimised=False)

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self.folder)

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
            with refusing(self.folder.onnx, "it failed on a batch of tokens"):
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
        kept = sorted(counts)[:MAX_TOKENS]  # the ones that `encode_bags` keeps of an index's bags, which are sorted
        ids_array = np.array(kept, np.int64)
        weights = tf_weight(np.array([counts[piece] for piece in kept], np.float32))
        table = self.folder.card.get("table")
        if not table:
            rows = self.encode_bags(np.array([0, len(ids_array)], np.int64), ids_array, weights)
            return np.asarray(rows[0])
        shape = (int(table["rows"]), self.dimension)
        path = self.folder.onnx
        codes = np.memmap(path, np.int8, "r", int(table["codes_offset"]), shape)
        scales = np.memmap(path, np.float16, "r", int(table["scales_offset"]), shape[:1])
        vector = (weights * scales[ids_array].astype(np.float32)) @ codes[ids_array].astype(np.float32)
        norm = float(np.linalg.norm(vector))
        return np.asarray(vector / np.float32(norm) if norm > 0 else vector, np.float32)
