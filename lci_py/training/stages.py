"""The stages after mining: train a model from the pairs, measure it, write its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from lci_py.training import evaluate
from lci_py.training.corpus import Package
from lci_py.training.dataset import Parts
from lci_py.training.export import export
from lci_py.training.pairs import LANGUAGES
from lci_py.training.start import sentence_vectors, start_table
from lci_py.training.tokens import pieces, tokenize, train_tokenizer
from lci_py.training.train import Bag, Recipe, Table, save, train
from lci_py.types.record import dataclass

NAME = "lci-static-192"
TOKENS = 32_000
#: Weight of late interaction beside the cosine in dense search (docs/ranking.md).
LATE = 0.2
RECIPE = Recipe(dimension=192, epochs=1, block=512)
#: Languages with fewer pairs are drawn more often, up to _MOST times: (_EVEN / pairs) ** 0.5.
_EVEN, _MOST = 100_000, 2.5


@dataclass(slots=True)
class Prepared:
    """The data of a training."""

    query: Bag
    answer: Bag
    groups: NDArray[np.int64]
    weights: NDArray[np.float32]
    chunks: NDArray[np.int64]
    start: NDArray[np.float32]


def prepare(work: Path, sentence_model: Path) -> None:
    """Train the tokenizer, tokenize all pairs, embed the tokens with the sentence model."""
    train_tokenizer(work, TOKENS, work / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
    expand = pieces(tokenizer, json.loads((work / "parts.json").read_text("utf-8")))
    bags: dict[str, Any] = {}
    with np.load(work / "pairs.npz") as arrays:
        for name in ("query", "answer"):
            found = tokenize(arrays[f"{name}_ptr"], arrays[f"{name}_ids"], arrays[f"{name}_cnt"], expand)
            bags |= {f"{name}_ptr": found[0], f"{name}_ids": found[1], f"{name}_w": found[2].astype(np.float16)}
    np.savez(work / "bags.npz", **bags)
    np.save(work / "sentence.npy", sentence_vectors(sentence_model, tokenizer))


def load_prepared(work: Path, recipe: Recipe) -> Prepared:
    with np.load(work / "bags.npz") as bags, np.load(work / "pairs.npz") as pairs:
        sides = [
            Bag(bags[f"{name}_ptr"], bags[f"{name}_ids"], bags[f"{name}_w"].astype(np.float32))
            for name in ("query", "answer")
        ]
        languages = pairs["language"]
        chunks = pairs["chunk"]
        groups = pairs["package"].astype(np.int64) * len(LANGUAGES) + languages
    vectors = np.load(work / "sentence.npy")
    frequency = sum(np.bincount(side.ids, minlength=len(vectors)) for side in sides)
    counts = np.maximum(np.bincount(languages, minlength=len(LANGUAGES)), 1)
    by_language = np.clip((_EVEN / counts) ** 0.5, 1, _MOST)
    weights = by_language[languages].astype(np.float32)
    start = start_table(vectors, np.asarray(frequency, np.float64), recipe.dimension)
    return Prepared(sides[0], sides[1], groups, weights, chunks, start)


def fit(work: Path, recipe: Recipe) -> Path:
    """Train, and return the path of the saved model."""
    data = load_prepared(work, recipe)
    model = train(recipe, data.start, data.query, data.answer, data.groups, data.weights, data.chunks)
    path = work / f"model-{recipe.seed}.pt"
    save(model, recipe, path)
    return path


def open_model(path: Path) -> Table:
    saved = torch.load(path)
    recipe = Recipe(**saved["recipe"])
    model = Table(saved["state"]["rows"].numpy(), recipe)
    model.load_state_dict(saved["state"])
    return model


def figures(work: Path, packages: list[Package], path: Path) -> dict[str, Any]:
    """Measure a saved model on the development and test packages."""
    return judge(work, packages, Tokenizer.from_file(str(work / "tokenizer.json")), *table_of(open_model(path)))


def judge(
    work: Path, packages: list[Package], tokenizer: Tokenizer, rows: NDArray[np.float32], ratios: NDArray[np.float32]
) -> dict[str, Any]:
    """Measure a table: `rows` [tokens, d] weighted for code, and `ratios` [tokens], the factors for questions."""
    parts = Parts()
    test = [package for package in packages if package.part == "test"]
    dev = [package for package in packages if package.part == "dev"]
    body = evaluate.within(work, test, parts, body_only=True)
    whole, own = evaluate.within(work, test, parts), evaluate.within(work, dev, parts)
    repositories = evaluate.repositories(work, dev, parts)
    tokens = pieces(tokenizer, list(parts.numbers))
    embed = evaluate.table_embedder(rows, ratios)
    found: dict[str, Any] = {"test packages": len(whole), "test questions": sum(len(item.wanted) for item in whole)}
    found["test MRR within package, body only"] = evaluate.mrr(body, embed, tokens)[0]
    inside, over_all = evaluate.mrr(whole, embed, tokens)
    found |= {"test MRR within package": inside, "test MRR over all": over_all}
    found["development MRR within package"] = evaluate.mrr(own, embed, tokens)[0]
    for late in (0.0, LATE):
        mean, by_kind = evaluate.ndcg(repositories, rows, ratios, tokens, late=late)
        found[f"development NDCG@10, late {late}"] = mean
        found[f"by kind, late {late}"] = by_kind
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in found.items()}


def table_of(model: Table) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The trained rows, weighted for code, and the factor of each token in questions."""
    rows = model.rows.detach().numpy()
    if model.weights is None:
        return rows, np.ones(len(rows), np.float32)
    asked, code = model.weights.detach().numpy()
    return rows * np.exp(code)[:, None], np.exp(asked - code)


def write_model(work: Path, path: Path, target: Path) -> dict[str, Any]:
    """Write the files of the model; returns the card."""
    rows, ratios = table_of(open_model(path))
    return export(target, NAME, rows, ratios, work / "tokenizer.json", {"late": LATE})


__all__ = ["RECIPE", "figures", "fit", "judge", "prepare", "write_model"]
