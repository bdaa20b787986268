"""Embeds bags of WordPiece tokens with a static table of token vectors in ONNX.

The vector of a text is the weighted sum of its tokens' rows, scaled to unit length. Word order does not matter, so a
chunk is stored as a bag. The table and the vocabulary of the built-in model are read directly from its files, without
onnxruntime and tokenizers, which only the extra `model` installs. Source of the model: docs/model.md.

The vector of a bag is the same to the last bit whichever bags are embedded with it: an index after many refreshes must
give the same answers as an index that was built at once.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lci_py.embed.folder import MODEL_DIR, ModelFolder, load_session, load_tokenizer, refusing
from lci_py.errors import BadModelError, DamagedIndexError
from lci_py.source.text.words import WORD, parts
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.embed.contextual import ContextualEncoder

    #: Of bags of tokens, or of text.
    TextEncoder: TypeAlias = "Encoder | ContextualEncoder"

_UNKNOWN = "[UNK]"
_JOINERS = "\u200c\u200d"
_LONGEST = 100  # characters of a part; a longer part is unknown
_BAGS = 256  # bags that are summed together: more would not fit into the processor's cache
MAX_TOKENS = 512  # distinct tokens of a text; further ones are left out


def tf_weight(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Weights of tokens that occur `counts` times: 1 + ln(count)."""
    import numpy as np

    return np.asarray(1.0 + np.log(counts), np.float32)


def word_pieces(part: str, vocabulary: dict[str, int]) -> list[int]:
    """The token ids of a lower-case part: the longest token at its start, then the longest after that, and so on; [UNK]
    if no token fits.

    Source: WordPiece as in BERT (Devlin et al. 2019); the limit of 100 characters is in our tokenizer.json.
    """
    ids: list[int] = []
    start = 0
    while start < len(part) <= _LONGEST:
        prefix = "##" if start else ""
        for stop in range(len(part), start, -1):
            token = vocabulary.get(prefix + part[start:stop])
            if token is not None:
                break
        else:
            return [vocabulary[_UNKNOWN]]
        ids.append(token)
        start = stop
    return ids or [vocabulary[_UNKNOWN]]


def token_ids(part: str, vocabulary: dict[str, int]) -> list[int]:
    """Token ids of a part of a word, as the tokenizers library gives them for the built-in model's tokenizer.json.

    The library normalizes to NFKC and lower case, splits off what is no letter, mark or digit, and looks for tokens.
    """
    if part.isascii() and part.isalnum():
        return word_pieces(part.lower(), vocabulary)
    text = unicodedata.normalize("NFKC", part).lower()
    pieces = ("".join(some) for kind, some in groupby(text, _kind) if kind)
    return [piece for word in pieces for piece in word_pieces(word, vocabulary)]


def _kind(char: str) -> str:
    """The kind of a character: "w" in words, "" for blanks, else "o". Characters of one kind stay together."""
    if char.isspace():
        return ""
    category = unicodedata.category(char)
    return "w" if category[0] in "LM" or category in ("Nd", "Nl", "Pc") or char in _JOINERS else "o"


@lru_cache(maxsize=1)
def vocabulary_of(tokenizer: Path) -> dict[str, int]:
    """Maps each token of a tokenizer.json to its id."""
    vocabulary: dict[str, int] = json.loads(tokenizer.read_bytes())["model"]["vocab"]
    return vocabulary


def load_builtin() -> None:
    """Load the vocabulary of the built-in model in advance, the slowest part of embedding."""
    vocabulary_of(ModelFolder(MODEL_DIR).tokenizer)


class Question(NamedTuple):
    """A query as dense search uses it: its vector and tokens."""

    vector: NDArray[np.float32]  # [dimension] of unit length; zeros without tokens
    ids: NDArray[np.int64]  # [tokens] distinct, ascending
    weights: NDArray[np.float32]  # [tokens] length of each one's share of the vector; the sum is 1


class Encoder:
    """A model for bags of tokens: inputs `ids` and `w`, both [batch, tokens], and perhaps `question`, a boolean.

    Files are loaded on first use. Instances are not thread-safe.
    """

    reads_text = False  # it takes bags

    def __init__(self, folder: Path | ModelFolder = MODEL_DIR, *, threads: int = 1) -> None:
        self.folder = folder if isinstance(folder, ModelFolder) else ModelFolder(folder)
        self.threads = threads
        self._arrays: dict[str, NDArray[Any]] = {}
        self._last_question: tuple[str, Question] | None = None

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
            BadModelError: A file does not load, or the model is not a model of bags.
        """
        import numpy as np

        self.pieces(["a"])
        self.encode_bags(np.array([0, 1], np.int64), np.zeros(1, np.int64), np.ones(1, np.float32))

    @cached_property
    def _session(self) -> Any:
        # The graph has six nodes; optimising it takes longer than a query.
        return load_session(self.folder, threads=self.threads, optimised=False)

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self.folder)

    def pieces(self, texts: list[str]) -> list[list[int]]:
        """Token ids of each text; a text is usually a part of an identifier."""
        if not self.folder.builtin:
            return [item.ids for item in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
        vocabulary = vocabulary_of(self.folder.tokenizer)
        return [token_ids(text, vocabulary) for text in texts]

    @cached_property
    def _is_asymmetric(self) -> bool:
        """Whether the model embeds questions differently from code."""
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
            question: Whether the texts are questions, not code.
        Returns:
            [n, dimension], rows of unit length; zeros for an empty bag.
        """
        if self._table:
            return self._unit(self._sums(indptr, ids, self._sided_weights(ids, weights) if question else weights))
        import numpy as np

        starts = indptr[:-1].tolist()
        lengths = np.minimum(np.diff(indptr), MAX_TOKENS).tolist()
        out = np.zeros((len(lengths), self.dimension), np.float32)
        side = {"question": np.array(question)} if self._is_asymmetric else {}
        # One by one: in onnxruntime the order of a sum depends on the size of the batch.
        for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            if length:
                own = slice(start, start + length)
                feed = {"ids": ids[None, own].astype(np.int64), "w": weights[None, own].astype(np.float32), **side}
                with refusing(self.folder.onnx, "it failed on a bag of tokens"):
                    out[row] = self._session.run(None, feed)[0]
        np.nan_to_num(out, copy=False)
        return out

    def encode_text(
        self, text: str, ids_of: Callable[[str], list[int] | None] | None = None, *, is_code: bool = False
    ) -> NDArray[np.float32]:
        """Embed a question, or code as a chunk: [dimension]; zeros if it has no known token.

        Args:
            ids_of: Returns the token ids of an identifier part, or None to use the tokenizer. The index has the ids of
                its own words.
            is_code: Whether the text is code.
        """
        import numpy as np

        ids, weights = self.question_tokens(text, ids_of)
        pointers = np.array([0, len(ids)], np.int64)
        return np.asarray(self.encode_bags(pointers, ids, weights, question=not is_code)[0])

    def question(self, text: str, ids_of: Callable[[str], list[int] | None] | None = None) -> Question:
        """The vector and the tokens of a question, for a model with a token table; arguments as in `encode_text`."""
        import numpy as np

        if self._last_question is not None and self._last_question[0] == text:  # many parts of a fleet ask for the same
            return self._last_question[1]
        ids, weights = self.question_tokens(text, ids_of)
        weights = self._sided_weights(ids, weights)
        codes, scales = self.token_codes(ids), self._scales(ids)
        sizes = weights * scales * np.sqrt(np.einsum("ij,ij->i", codes, codes))
        total = sizes.sum()
        # In the same order as in `_sums`: token by token.
        vector = np.add.reduce(codes * (weights * scales)[:, None], axis=0, keepdims=True)
        result = Question(self._unit(vector)[0], ids, np.asarray(sizes / total if total > 0 else sizes, np.float32))
        self._last_question = text, result
        return result

    def question_tokens(
        self, text: str, ids_of: Callable[[str], list[int] | None] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The distinct token ids of a question, ascending, and their weights; arguments as in `encode_text`."""
        import numpy as np

        counts: Counter[int] = Counter()
        unknown: list[str] = []
        for word in WORD.findall(text):
            for part in parts(word):
                ids = ids_of(part) if ids_of else None
                if ids is None:
                    unknown.append(part)
                else:
                    counts.update(ids)
        if unknown:
            counts.update(piece for ids in self.pieces(unknown) for piece in ids)
        tokens = sorted(counts)[:MAX_TOKENS]  # as `encode_bags` cuts the sorted bags of an index
        return np.array(tokens, np.int64), tf_weight(np.array([counts[piece] for piece in tokens], np.float32))

    # --- the table itself, for the built-in model -----------------------------------------------------------------

    @property
    def late(self) -> float:
        """The weight of late interaction (token by token) relative to the cosine; 0 without a readable table."""
        return float(self.folder.card.get("late", 0.0)) if self._table else 0.0

    @property
    def _table(self) -> dict[str, Any]:
        return self.folder.card.get("table") or {}

    def _array(self, name: str, kind: Any, *more: int) -> NDArray[Any]:
        import numpy as np

        array = self._arrays.get(name)
        if array is None:
            shape = (int(self._table["rows"]), *more)
            mapped = np.memmap(self.folder.onnx, kind, "r", int(self._table[f"{name}_offset"]), shape)
            array = self._arrays[name] = np.asarray(mapped)
        return array

    def _check_ids(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        # The ids come from an index.
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < int(self._table["rows"]):
            raise DamagedIndexError("the tokens shard names a token that the model does not have")
        return ids

    def token_codes(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The rows of the token table, before scaling: [len(ids), dimension], whole numbers from -128 to 127.

        Raises:
            DamagedIndexError: An id is not in the table.
        """
        import numpy as np

        return np.asarray(self._array("codes", np.int8, self.dimension)[self._check_ids(ids)].astype(np.float32))

    def _scales(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        import numpy as np

        return np.asarray(self._array("scales", np.float16)[self._check_ids(ids)].astype(np.float32))

    def _sums(
        self, indptr: NDArray[np.int64], ids: NDArray[np.int64], weights: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The weighted sum of each bag's rows: [n, dimension].

        Sums many bags at once, token by token: each number is summed in the order of the bag's tokens, so its rounding
        does not depend on other bags. In a product of matrices the order would depend on their sizes.
        """
        import numpy as np

        codes = self._array("codes", np.int8, self.dimension)
        scaled = weights * self._scales(ids)
        lengths = np.minimum(np.diff(indptr), MAX_TOKENS)
        order = np.argsort(-lengths, kind="stable")[: int(np.count_nonzero(lengths))]
        out = np.zeros((len(lengths), self.dimension), np.float32)
        space = np.empty((_BAGS, self.dimension), np.float32)
        for start in range(0, len(order), _BAGS):
            bags = order[start : start + _BAGS]
            first = indptr[bags]
            total = np.zeros((len(bags), self.dimension), np.float32)
            # The longest bags come first; `having[i]` bags have a token number i.
            having = np.searchsorted(-lengths[bags], -np.arange(int(lengths[bags[0]])))
            for token, count in enumerate(having.tolist()):
                rows = first[:count] + token
                product = space[:count]
                product[:] = codes[ids[rows]]
                product *= scaled[rows, None]
                total[:count] += product
            out[bags] = total
        return out

    @staticmethod
    def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        lengths[lengths == 0] = 1
        return np.asarray(vectors / lengths[:, None], np.float32)

    def _sided_weights(self, ids: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Weights of tokens in a question: their weights in code, times factors that the model has learned."""
        import numpy as np

        if "ratios_offset" not in self._table:
            return weights
        return np.asarray(weights * self._array("ratios", np.float16)[self._check_ids(ids)].astype(np.float32))


def open_encoder(folder: ModelFolder, *, threads: int = 1) -> TextEncoder:
    """The encoder that fits the inputs of the model.

    Raises:
        BadModelError: The model or its tokenizer does not load, or the model is of neither kind.
    """
    if folder.builtin:
        return Encoder(folder, threads=threads)  # tested, so it is loaded only when it is needed
    session = load_session(folder)
    names = {item.name for item in session.get_inputs()}
    if names - {"question"} == {"ids", "w"}:
        encoder = Encoder(folder, threads=threads)
        encoder.check()
        return encoder
    from lci_py.embed.contextual import INPUTS, ContextualEncoder

    if "input_ids" not in names or not names <= set(INPUTS):
        raise BadModelError(
            f"{folder.onnx}: its inputs are {', '.join(sorted(names)) or 'none'}",
            hint=f"an encoder takes input_ids and perhaps {' and '.join(INPUTS[1:])}, or ids and w (docs/model.md)",
        )
    return ContextualEncoder(folder, session, threads=threads)
