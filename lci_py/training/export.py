"""Write the trained table as ONNX: int8 rows, a float16 scale per row, and a factor per token for questions.

    y = unit(sum over tokens of w * (question ? ratio[id] : 1) * scale[id] * codes[id])

`model.json` has the offsets of the three arrays in the file, so that a query can read some rows without onnxruntime.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper


def quantize(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Rows [n, d] as codes [n, d] and scales [n]: row = code * scale, the largest code of a row being 127."""
    scales = (np.abs(rows).max(axis=1) / 127).astype(np.float16)
    safe = np.where(scales > 0, scales, 1).astype(np.float32)
    codes = np.clip(np.rint(rows / safe[:, None]), -127, 127).astype(np.int8)
    return codes, scales


def onnx_model(codes: NDArray[np.int8], scales: NDArray[np.float16], ratios: NDArray[np.float16]) -> onnx.ModelProto:
    """The graph; inputs `ids` int64 [B, L], `w` float32 [B, L] (0 for padding), `question` bool []."""
    size = codes.shape[1]
    initializers = [
        numpy_helper.from_array(codes, "codes"),
        numpy_helper.from_array(scales, "scales"),
        numpy_helper.from_array(ratios, "ratios"),
        numpy_helper.from_array(np.array([1], np.int64), "tokens"),
        numpy_helper.from_array(np.array(1, np.float16), "one"),
        numpy_helper.from_array(np.array(1e-12, np.float32), "least"),
    ]
    node = helper.make_node
    nodes = [
        node("Gather", ["ratios", "ids"], ["ratio"]),
        node("Where", ["question", "ratio", "one"], ["side"]),
        node("Gather", ["scales", "ids"], ["scale16"]),
        node("Cast", ["side"], ["side32"], to=TensorProto.FLOAT),
        node("Cast", ["scale16"], ["scale"], to=TensorProto.FLOAT),
        node("Mul", ["w", "scale"], ["weighted"]),
        node("Mul", ["weighted", "side32"], ["weight"]),
        node("Unsqueeze", ["weight", "tokens"], ["row_weight"]),  # [B, 1, L]
        node("Gather", ["codes", "ids"], ["rows8"]),
        node("Cast", ["rows8"], ["rows"], to=TensorProto.FLOAT),
        node("MatMul", ["row_weight", "rows"], ["sum3"]),
        node("Squeeze", ["sum3", "tokens"], ["sum"]),
        node("ReduceL2", ["sum"], ["norm"], axes=[1], keepdims=1),
        node("Max", ["norm", "least"], ["length"]),
        node("Div", ["sum", "length"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT64, ["B", "L"]),
        helper.make_tensor_value_info("w", TensorProto.FLOAT, ["B", "L"]),
        helper.make_tensor_value_info("question", TensorProto.BOOL, []),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["B", size])]
    graph = helper.make_graph(nodes, "lci-static", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def export(
    folder: Path,
    name: str,
    rows: NDArray[np.float32],
    ratios: NDArray[np.float32],
    tokenizer: Path,
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Write `model.onnx`, `tokenizer.json` and the card `model.json`; returns the card."""
    folder.mkdir(parents=True, exist_ok=True)
    codes, scales = quantize(rows)
    halves = ratios.astype(np.float16)
    model = onnx_model(codes, scales, halves)
    onnx.checker.check_model(model)
    data = model.SerializeToString(deterministic=True)
    (folder / "model.onnx").write_bytes(data)
    (folder / "tokenizer.json").write_bytes(_compact(tokenizer))
    digest = hashlib.sha256(data + (folder / "tokenizer.json").read_bytes()).hexdigest()
    table = {"rows": len(codes)}
    for key, array in (("codes", codes), ("scales", scales), ("ratios", halves)):
        table[f"{key}_offset"] = data.index(array.tobytes())
    card = {"name": name, "dimension": rows.shape[1], "sha256": digest, "table": table, **facts}
    (folder / "model.json").write_text(json.dumps(card, indent=1) + "\n", "utf-8")
    return card


def _compact(tokenizer: Path) -> bytes:
    return json.dumps(json.loads(tokenizer.read_text("utf-8")), ensure_ascii=False, separators=(",", ":")).encode()
