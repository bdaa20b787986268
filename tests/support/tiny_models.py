"""Tiny ONNX encoders with a tokenizer, whose vectors numpy can compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = (
    *SPECIAL,
    *"def class return remove expired session sessions cookie close pool open file method a b c py".split(),
)
DIMENSION = 8


def table(seed: int = 0) -> np.ndarray:
    """A row per word. That of the padding is NaN, which must never reach a vector."""
    rows = np.random.default_rng(seed).normal(size=(len(WORDS), DIMENSION)).astype(np.float32)
    rows[0] = np.nan
    return rows


def write_tokenizer(folder: Path, *, special: bool = True, cut: int | None = None) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if special:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    if cut:
        tokenizer.enable_truncation(cut)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


def _save(path: Path, nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: dict[str, np.ndarray]) -> None:
    graph = helper.make_graph(
        nodes, "tiny", inputs, outputs, [numpy_helper.from_array(value, name) for name, value in weights.items()]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def contextual(
    folder: Path, *, inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"), seed: int = 0,
    output: str = "last_hidden_state", quantized: bool = False, at: str = "model.onnx",
    shape: tuple[Any, ...] = ("batch", "sequence"), special: bool = True, cut: int | None = None,
    kind: int = TensorProto.INT64, pooled: bool = False, **settings: dict[str, Any],
) -> Path:  # fmt: skip
    """A model with the inputs and outputs of a transformer that is only a table; `settings` are its JSON files."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.nan_to_num(table(seed), nan=50.0) if quantized or pooled else table(seed)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["states"])]
    if quantized:
        nodes += [
            helper.make_node("DynamicQuantizeLinear", ["states"], ["q", "scale", "zero"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["coarse"]),
        ]
    states = "coarse" if quantized else "states"
    if pooled:  # sum over the text
        nodes.append(helper.make_node("ReduceSum", [states, "second"], [output], keepdims=0))
    elif output == "sentence_embedding":  # the first token's, doubled
        nodes += [
            helper.make_node("Gather", [states, "first"], ["picked"], axis=1),
            helper.make_node("Add", ["picked", "picked"], [output]),
        ]
    else:
        nodes.append(helper.make_node("Identity", [states], [output]))
    dims = ["batch", DIMENSION] if output == "sentence_embedding" else ["batch", "sequence", DIMENSION]
    weights = {"table": rows, "first": np.array(0, np.int64), "second": np.array([1], np.int64)}
    used = {name for node in nodes for name in node.input}
    weights = {name: value for name, value in weights.items() if name in used}
    _save(
        folder / at,
        nodes,
        [helper.make_tensor_value_info(name, kind, shape) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, dims)],
        weights,
    )
    write_tokenizer(folder, special=special, cut=cut)
    for name, value in settings.items():
        path = folder / {"pooling": "1_Pooling/config.json"}.get(name, f"{name}.json")
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value))
    return folder


def bags(folder: Path, seed: int = 0) -> Path:
    """A model like the built-in one: weighted sums of rows, normalised to unit length."""
    folder.mkdir(parents=True, exist_ok=True)
    axes = {"two": np.array([2], np.int64), "one": np.array([1], np.int64), "table": np.nan_to_num(table(seed))}
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("Unsqueeze", ["w", "two"], ["wide"]),
        helper.make_node("Mul", ["rows", "wide"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "one"], ["summed"], keepdims=0),
        helper.make_node("LpNormalization", ["summed"], ["vector"], axis=1),
    ]
    _save(
        folder / "model.onnx",
        nodes,
        [
            helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "t"]),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, ["b", "t"]),
        ],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["b", DIMENSION])],
        axes,
    )
    write_tokenizer(folder)
    return folder
