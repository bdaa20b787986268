"""Embeds text with a transformer: an ONNX export and its tokenizer. docs/model.md lists what is supported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from lci_py.embed.folder import POOLING, ModelFolder, load_tokenizer, refusing
from lci_py.errors import BadModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MAX_TOKENS = 512
#: Tokens of a batch, padding included. Larger batches are slower on a CPU: attention no longer fits into the caches.
CELLS = 512
#: A text is cut to this many characters per token before it is tokenized, to bound the time. Code has about 3.
_CHARACTERS_PER_TOKEN = 64
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_SCAN = 1 << 20


class ContextualEncoder:
    """A loaded transformer.

    The vector of a text does not depend, to the last bit, on the other texts of a batch nor on `threads`: padding is
    masked, a model without a mask gets texts of equal length, and a model whose rows influence each other gets one text
    at a time.
    """

    reads_text = True

    def __init__(self, folder: ModelFolder, session: Any, *, threads: int = 1) -> None:
        self.folder = folder
        self.threads = threads
        self._session = session
        self._types = {item.name: self._type(item) for item in session.get_inputs()}
        self._output, self._tokens = self._choose_output()
        self._first = self._tokens and self._pools_first()
        self._tokenizer = load_tokenizer(folder)
        self._pad = self._padding_id()
        self.limit = self._limit()
        with refusing(folder.tokenizer, "it cannot truncate"):
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(self.limit)
        prompts = self._prompts()
        self._query_prompt = prompts.get("query", "")
        self._chunk_prompt = prompts.get("document", prompts.get("passage", ""))
        self._one_by_one: bool | None = None  # None: not known yet
        size = self._output.shape[-1]
        self.dimension: int = size if isinstance(size, int) else 0
        if not self.dimension:
            self.dimension = self._run([self._tokens_of("a")]).shape[1]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def sha256(self) -> str:
        return self.folder.sha256

    def encode_text(
        self, text: str, ids_of: Callable[[str], list[int] | None] | None = None, *, is_code: bool = False
    ) -> NDArray[np.float32]:
        """Embed a query, or code as a chunk: [dimension]; zeros if it is blank. `ids_of` is not used."""
        if is_code:
            return np.asarray(self.encode_chunks([text])[0])
        if not text.strip():
            return np.zeros(self.dimension, np.float32)
        return np.asarray(self._encode([self._query_prompt + text])[0])

    def encode_chunks(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts of the index: [len(texts), dimension], rows of unit length.

        A row is zeros for a blank text, and where the model returns a NaN.
        """
        if self._one_by_one is None:
            # If the graph itself sums over the tokens of a text, the order of the sum depends on the batch.
            self._one_by_one = not self._tokens or self._scales_by_batch()
        out = np.zeros((len(texts), self.dimension), np.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]
        if rows:
            out[rows] = self._encode([self._chunk_prompt + texts[row] for row in rows])
        return out

    # --- settings of the model ----------------------------------------------------------------------------------

    def _refuse(self, problem: str, hint: str = "see docs/model.md for what a model folder holds") -> BadModelError:
        return BadModelError(f"{self.folder.onnx}: {problem}", hint=hint)

    def _type(self, item: Any) -> type[np.integer[Any]]:
        if item.type not in _TYPES:
            raise self._refuse(f"its input {item.name} is a {item.type}, not a tensor(int64)")
        if len(item.shape) != 2 or any(isinstance(size, int) for size in item.shape):
            raise self._refuse(
                f"its input {item.name} has the fixed shape {list(item.shape)}",
                hint="export it with dynamic axes for batch and sequence",
            )
        return _TYPES[item.type]

    def _choose_output(self) -> tuple[Any, bool]:
        """(output, per_token): the model's output to use, and whether it has a vector per token."""
        outputs = self._session.get_outputs()
        for item in outputs:
            if "sentence_embedding" in item.name and len(item.shape or ()) == 2:
                return item, False
        # A plain export has the states of the tokens first, and also a pooler, which was trained for another task.
        for item in outputs:
            if len(item.shape or ()) == 3:
                return item, True
        if len(outputs) == 1 and len(outputs[0].shape or ()) == 2:
            return outputs[0], False
        shapes = ", ".join(f"{item.name} {list(item.shape or ())}" for item in outputs)
        raise self._refuse(f"no output is a vector per text or per token: {shapes or 'there is none'}")

    def _pools_first(self) -> bool:
        """Whether the vector of a text is the vector of its first token, rather than the mean of all tokens."""
        modes = [name for name, on in self.folder.settings(POOLING).items() if name.startswith("pooling_mode") and on]
        if modes and modes not in (["pooling_mode_mean_tokens"], ["pooling_mode_cls_token"]):
            raise BadModelError(
                f"{self.folder.path / POOLING}: {' and '.join(modes)} is not supported",
                hint="use a model that pools by the mean or the first token, or export it with its pooling",
            )
        return modes == ["pooling_mode_cls_token"]

    def _padding_id(self) -> int:
        padding = self._tokenizer.padding
        if padding:
            return int(padding["pad_id"])
        token = self.folder.settings("tokenizer_config.json").get("pad_token")
        pad_id = self._tokenizer.token_to_id(token) if isinstance(token, str) else None
        return int(pad_id) if pad_id is not None else 0

    def _limit(self) -> int:
        """The maximum number of tokens of a text. A setting of sentence-transformers overrides the model's."""
        settings = self.folder.settings
        cut = self._tokenizer.truncation or {}
        limits = (
            settings("sentence_bert_config.json").get("max_seq_length"),
            cut.get("max_length"),
            settings("tokenizer_config.json").get("model_max_length"),
        )
        bounds = [MAX_TOKENS, *[size for size in limits if _is_size(size)][:1]]
        config = settings("config.json")
        positions = config.get("max_position_embeddings")
        if _is_size(positions):
            # RoBERTa and its relatives number positions from the id of the padding.
            offset = 2 if str(config.get("model_type")) in ("roberta", "xlm-roberta", "camembert", "mpnet") else 0
            bounds.append(positions - offset)
        special = int(self._tokenizer.num_special_tokens_to_add(is_pair=False))
        if min(bounds) <= special:
            raise BadModelError(
                f"{self.folder.path}: it allows only texts of {min(bounds)} tokens", hint="raise its limit of tokens"
            )
        return min(bounds)

    def _prompts(self) -> dict[str, str]:
        name = "config_sentence_transformers.json"
        prompts = self.folder.settings(name).get("prompts") or {}
        if not isinstance(prompts, dict) or not all(isinstance(text, str) for text in prompts.values()):
            raise BadModelError(f"{self.folder.path / name}: prompts is not a table of texts", hint="correct it")
        return prompts

    def _scales_by_batch(self) -> bool:
        """Whether the model quantizes activations at run time: the scale then depends on the whole batch."""
        pattern, tail = b"DynamicQuantize", b""
        with refusing(self.folder.onnx, "it cannot be read"), open(self.folder.onnx, "rb") as handle:
            while block := handle.read(_SCAN):
                if pattern in tail + block:
                    return True
                tail = block[-len(pattern) :]
        return False

    # --- running it ---------------------------------------------------------------------------------------------

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts that are not blank: [len(texts), dimension]."""
        # Not `encode_batch`, which starts a thread per core, whatever --jobs says.
        encodings = [self._tokens_of(text) for text in texts]
        batches = list(self._batches(np.array([len(item.ids) for item in encodings], np.int64)))
        vectors = np.zeros((len(texts), self.dimension), np.float32)

        def run(rows: NDArray[np.int64]) -> NDArray[np.float32]:
            return self._run([encodings[row] for row in rows.tolist()])

        results = map(run, batches) if min(self.threads, len(batches)) <= 1 else self._in_threads(run, batches)
        for rows, result in zip(batches, results, strict=True):
            vectors[rows] = result
        return vectors

    def _tokens_of(self, text: str) -> Any:
        # Surrogates stand for bytes of a path that are not UTF-8; tokenizers refuses them.
        cut = text[: self.limit * _CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")
        with refusing(self.folder.tokenizer, "the tokenizer failed"):
            return self._tokenizer.encode(cut)

    def _in_threads(
        self, run: Callable[[NDArray[np.int64]], NDArray[np.float32]], batches: list[NDArray[np.int64]]
    ) -> Iterator[NDArray[np.float32]]:
        """Run several batches at once, each on one core: threads inside an operation gain little on small matrices."""
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(self.threads)
        try:
            yield from pool.map(run, batches)
        finally:
            pool.shutdown(cancel_futures=True)

    def _batches(self, lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield batches of texts, as indices, the longest texts first; texts without a token are left out."""
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        padded = "attention_mask" in self._types
        start = 0
        while start < len(order):
            width = int(lengths[order[start]])
            stop = min(len(order), start + (1 if self._one_by_one else max(1, CELLS // width)))
            if not padded:
                stop = start + int(np.count_nonzero(lengths[order[start:stop]] == width))
            yield order[start:stop]
            start = stop

    def _run(self, batch: list[Any]) -> NDArray[np.float32]:
        width = max(len(item.ids) for item in batch)
        ids = np.full((len(batch), width), self._pad, np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        types = np.zeros((len(batch), width), np.int64)
        for row, item in enumerate(batch):
            ids[row, : len(item.ids)] = item.ids
            mask[row, : len(item.ids)] = 1
            types[row, : len(item.ids)] = item.type_ids
        values = dict(zip(INPUTS, (ids, mask, types), strict=True))
        feed = {name: values[name].astype(kind, copy=False) for name, kind in self._types.items()}
        with refusing(self.folder.onnx, f"it failed on a text of {width} tokens"):
            out = np.asarray(self._session.run([self._output.name], feed)[0], np.float32)
        shape = (len(batch), width) if self._tokens else (len(batch),)
        if out.shape[:-1] != shape or out.shape[-1] != (self.dimension or out.shape[-1]):
            raise self._refuse(f"its output {self._output.name} has the shape {list(out.shape)} for {list(mask.shape)}")
        if self._tokens:
            # Not a product with the mask: the values for padding may be NaN.
            out = out[:, 0] if self._first else np.where(mask[:, :, None] > 0, out, np.float32(0)).sum(axis=1)
        return _unit(out)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to unit length; so a sum of token vectors serves as their mean."""
    vectors = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, np.float32(0))
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    norms[norms == 0] = 1
    return np.asarray(vectors / norms[:, None], np.float32)


def _is_size(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
