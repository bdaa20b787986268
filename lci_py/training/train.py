"""Contrastive training of the token table.

Loss: symmetric InfoNCE over the batch (van den Oord et al. 2018, eq. 4; both directions as in CLIP, Radford et al.
2021). A batch consists of blocks of pairs from one package and language, so that most negatives are hard.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lci_py.types.record import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    dimension: int = 256
    batch: int = 2048
    block: int = 256
    epochs: int = 3
    rate: float = 5e-3
    temperature: float = 0.05
    dropout: float = 0.0  # share of tokens that are dropped, in questions and answers
    two_weights: bool = True  # a weight per token and side
    seed: int = 0
    limit: int = 0  # pairs to train on, 0 for all


class Table(nn.Module):
    """The model. The vector of a text is the weighted sum of its tokens' rows, scaled to unit length."""

    def __init__(self, start: NDArray[np.float32], recipe: Recipe) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.from_numpy(start.copy()))
        self.weights = nn.Parameter(torch.zeros(2, len(start))) if recipe.two_weights else None

    def forward(self, ids: torch.Tensor, pointers: torch.Tensor, weights: torch.Tensor, side: int) -> torch.Tensor:
        if self.weights is not None:
            weights = weights * torch.exp(self.weights[side])[ids]
        pooled = nn.functional.embedding_bag(
            ids, self.rows, pointers, mode="sum", per_sample_weights=weights, include_last_offset=True
        )
        return nn.functional.normalize(pooled, dim=-1)


class Bag:
    """Tokenized texts, from which batches are drawn."""

    def __init__(self, pointers: NDArray[np.int64], ids: NDArray[np.int32], weights: NDArray[np.float32]) -> None:
        self.pointers, self.ids, self.weights = pointers, ids, weights

    def rows(self, chosen: NDArray[np.int64], dropout: float, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        lengths = self.pointers[chosen + 1] - self.pointers[chosen]
        ends = np.cumsum(lengths)
        place = np.arange(int(ends[-1])) + np.repeat(self.pointers[chosen] - (ends - lengths), lengths)
        weights = self.weights[place]
        if dropout:
            weights = np.where(rng.random(len(weights), np.float32) < dropout, np.float32(0), weights)
        pointers = np.concatenate(([0], ends))
        return torch.from_numpy(self.ids[place].astype(np.int64)), torch.from_numpy(pointers), torch.from_numpy(weights)


def blocks(groups: NDArray[np.int64], size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Blocks of pair numbers, each of one group, in a random order; every pair occurs once."""
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    cut = [part[i : i + size] for part in np.split(order, starts[1:]) for i in range(0, len(part), size)]
    return [cut[i] for i in rng.permutation(len(cut))]


def train(
    recipe: Recipe, start: NDArray[np.float32], query: Bag, answer: Bag, groups: NDArray[np.int64],
    weights: NDArray[np.float32], chunks: NDArray[np.int64] | None = None, *, report: Any = print,
) -> Table:  # fmt: skip
    """Train from the given table [tokens, dimension].

    Args:
        groups: [pairs] package and language of each pair, as one number.
        weights: [pairs] average number of times that a pair is drawn in an epoch.
        chunks: [pairs] chunk of the answer: two questions with the same chunk are not negatives of each other.
    """
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    model = Table(start, recipe)
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.rate, betas=(0.9, 0.99))
    total = recipe.epochs * math.ceil((recipe.limit or float(weights.sum())) / recipe.batch)
    step, started, losses = 0, time.perf_counter(), []
    for epoch in range(recipe.epochs):
        drawn = np.repeat(np.arange(len(weights)), np.floor(weights + rng.random(len(weights))).astype(np.int64))
        if recipe.limit:
            drawn = np.sort(rng.permutation(drawn)[: recipe.limit])
        cut = blocks(groups[drawn], recipe.block, rng)
        for chosen in _batches(cut, recipe.batch):
            rows = drawn[chosen]
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate * max(0.02, 1 - step / total) * min(1.0, (step + 1) / 50)
            left = model(*query.rows(rows, recipe.dropout, rng), 0)
            right = model(*answer.rows(rows, recipe.dropout, rng), 1)
            scores = left @ right.T / recipe.temperature
            if chunks is not None:
                own = torch.from_numpy(chunks[rows])
                same = (own[:, None] == own).fill_diagonal_(False)
                scores = scores.masked_fill(same, -1e4)
            target = torch.arange(len(rows))
            loss = (nn.functional.cross_entropy(scores, target) + nn.functional.cross_entropy(scores.T, target)) / 2
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
            step += 1
        seconds = time.perf_counter() - started
        report(f"epoch {epoch + 1}: loss {np.mean(losses[-500:]):.4f}, {seconds:.0f} s, {step} steps")
    return model


def _batches(cut: list[NDArray[np.int64]], size: int) -> list[NDArray[np.int64]]:
    found, own, count = [], [], 0
    for block in cut:
        own.append(block)
        count += len(block)
        if count >= size:
            found.append(np.concatenate(own))
            own, count = [], 0
    # The rest would be a batch with few negatives: it is used only if there is no other.
    return found or [np.concatenate(own)]


def save(model: Table, recipe: Recipe, path: Path) -> None:
    torch.save({"recipe": asdict(recipe), "state": model.state_dict()}, path)
