"""Earlier rankings, for comparison with the live one: `make quality BENCH=… REPOS=… LEFT=v1`."""

from __future__ import annotations

from lci_py.search.query import plan as weights

_V1_BALANCED = {
    "dense": 1.0, "content": 0.8, "names": 0.35, "paths": 0.4, "files": 0.4, "symbol": 0.4, "stem": 0.4,
    "dense_file": 0.5, "near": 0.25,
}  # fmt: skip
_V1_EXACT = {
    "dense": 0.2, "content": 0.2, "names": 0.5, "paths": 0.3, "files": 0.3, "symbol": 1.2, "stem": 0.25,
    "dense_file": 0.1, "near": 0.25,
}  # fmt: skip
#: Before the graph lifted, and before the signals of whole files.
V1 = weights.Ranking(
    "v1",
    {intent: _V1_EXACT if intent == "fast_exact" else _V1_BALANCED for intent in weights.LIVE.weights},
    {"test": 0.6, "block": 0.95, "text": 0.7},
    0.5,
)
RANKINGS = {weights.LIVE.name: weights.LIVE, V1.name: V1}
