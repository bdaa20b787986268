"""Text to vectors: a static token table in ONNX, run by onnxruntime on bags of WordPiece tokens.

A text is embedded as the weighted sum of its tokens' rows, scaled to unit length; word order does not matter, so a
chunk travels as a bag and is never put together again. Source of the model: docs/model.md.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.embed.folder import MODEL_DIR, ModelFolder, load_session, load_tokenizer, refusing
from lci_py.errors import BadModelError, DamagedIndexError
from lci_py.source.words import WORD, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

_UNKNOWN = "[UNK]"
_LONGEST = 100  # characters of a part; a longer one is unknown
_CELLS = 16_384  # tokens of one batch, padding included: larger ones fall out of the processor's cache
MAX_TOKENS = 512  # distinct tokens of one text; further ones are left out


def tf_weight(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Weight of tokens that occur `counts` times: 1 + ln(count)."""
    import numpy as np

    return np.asarray(1.0 + np.log(counts), np.float32)


def word_pieces(part: str, vocabulary: dict[str, int]) -> list[int]:
    """Token ids of one lower-case part: the longest token that it begins with, and so on; [UNK] if that fails.

    Source: WordPiece as in BERT (Devlin et al. 2019); the limit of 100 characters is in our tokenizer.json.
    """
    ids: list[int] = []
    start = 0
    while start < len(part) <= _LONGEST:
        prefix = "##" if start else ""
        for stop in range(len(part), start, -1):
            found = vocabulary.get(prefix + part[start:stop])
            if found is not None:
                break
        else:
            return [vocabulary[_UNKNOWN]]
        ids.append(found)
        start = stop
    return ids or [vocabulary[_UNKNOWN]]


class Encoder:
    """A model of bags: inputs `ids` and `w`, both [batch, tokens], and perhaps `question`, a truth value.

    Loading is lazy; instances are not thread-safe.
    """

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

    def _few_pieces(self, parts: list[str]) -> list[list[int]]:
        """The same as `pieces`, for the few words of a question: loading the tokenizer takes longer than all the rest.

        What is not plain ASCII, and every model but the built-in one, goes through the tokenizer all the same.
        """
        if not self.folder.builtin or not all(part.isascii() and part.isalnum() for part in parts):
            return self.pieces(parts)
        return [word_pieces(part, self._vocabulary) for part in parts]

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        vocabulary: dict[str, int] = json.loads(self.folder.tokenizer.read_bytes())["model"]["vocab"]
        return vocabulary

    @cached_property
    def _sided(self) -> bool:
        """Whether the model tells questions from code."""
        return any(item.name == "question" for item in self._session.get_inputs())

    def encode_bags(
        self,
        indptr: NDArray[np.int64],
        ids: NDArray[np.int64],
        weights: NDArray[np.float32],
        *,
        question: bool = False,
    ) -> NDArray[np.float32]:
        """Embed bags of tokens.

        Args:
            indptr: [n + 1] where each bag starts in `ids`.
            ids: [total] distinct token ids of each bag.
            weights: [total] positive weight of each token.
            question: Whether the texts are questions; they are code otherwise.
        Returns:
            [n, dimension], rows of unit length; an empty bag is a row of zeros.
        """
        import numpy as np

        lengths = np.minimum(np.diff(indptr), MAX_TOKENS)
        out = np.zeros((len(lengths), self.dimension), np.float32)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        side = {"question": np.array(question)} if self._sided else {}
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
                out[rows] = self._session.run(None, {"ids": batch_ids, "w": batch_weights, **side})[0]
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
        """Embed a question: [dimension], zeros if it has no known token.

        The same vector as `encode_bags` gives, but read straight from the table in the ONNX file: starting
        onnxruntime and the tokenizer takes longer than everything else in a query (docs/adr/0004-query-start-up.md).

        Args:
            text: The text.
            known: Token ids of an identifier part if somebody knows them (the index does, for its own words); what it
                answers None for goes through the tokenizer.
        """
        import numpy as np

        ids, weights = self.question_tokens(text, known)
        if not self._table:
            pointers = np.array([0, len(ids)], np.int64)
            return np.asarray(self.encode_bags(pointers, ids, weights, question=True)[0])
        rows = self._rows(ids)
        vector = self._sided_weights(ids, weights) @ rows
        norm = float(np.linalg.norm(vector))
        return np.asarray(vector / np.float32(norm) if norm > 0 else vector, np.float32)

    def question_tokens(
        self, text: str, known: Callable[[str], list[int] | None] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """A question's distinct token ids, ascending, and their weights; arguments as for `encode_text`."""
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
            counts.update(piece for ids in self._few_pieces(unknown) for piece in ids)
        kept = sorted(counts)[:MAX_TOKENS]  # the ones that `encode_bags` keeps of an index's bags, which are sorted
        return np.array(kept, np.int64), tf_weight(np.array([counts[piece] for piece in kept], np.float32))

    # --- the table itself, for the built-in model -----------------------------------------------------------------

    @property
    def late(self) -> float:
        """Weight of the tokens' own closeness beside the vectors' cosine; 0 if this model's table cannot be read."""
        return float(self.folder.card.get("late", 0.0)) if self._table else 0.0

    @property
    def _table(self) -> dict[str, Any]:
        return self.folder.card.get("table") or {}

    def _array(self, name: str, kind: Any, *more: int) -> NDArray[Any]:
        import numpy as np

        shape = (int(self._table["rows"]), *more)
        return np.memmap(self.folder.onnx, kind, "r", int(self._table[f"{name}_offset"]), shape)

    def _codes(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        import numpy as np

        # They come from an index.
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < int(self._table["rows"]):
            raise DamagedIndexError("the tokens shard names a token that the model does not have")
        return np.asarray(self._array("codes", np.int8, self.dimension)[ids].astype(np.float32))

    def _rows(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The table's rows: [len(ids), dimension]."""
        import numpy as np

        codes = self._codes(ids)
        return np.asarray(codes * self._array("scales", np.float16)[ids].astype(np.float32)[:, None])

    def _sided_weights(self, ids: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Weights of a question's tokens: what they weigh in code, times what the model learned for questions."""
        import numpy as np

        if "ratios_offset" not in self._table:
            return weights
        return np.asarray(weights * self._array("ratios", np.float16)[ids].astype(np.float32))

    def token_directions(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Vectors of single tokens, of unit length: [len(ids), dimension].

        Raises:
            DamagedIndexError: An id is not in the table.
        """
        import numpy as np

        codes = self._codes(ids)
        return np.asarray(codes / np.maximum(np.linalg.norm(codes, axis=1), np.float32(1e-9))[:, None])

    def question_weights(self, ids: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """How much each token of a question counts: the length of what it adds to the vector. They sum to 1."""
        import numpy as np

        sizes = self._sided_weights(ids, weights) * np.linalg.norm(self._rows(ids), axis=1)
        total = float(sizes.sum())
        return np.asarray(sizes / np.float32(total) if total > 0 else sizes, np.float32)
