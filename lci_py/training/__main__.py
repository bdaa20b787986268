"""`python -m lci_py.training STAGE --work DIR`: see docs/model.md for the stages."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from lci_py.training.corpus import EXCLUDED, LIST, Package, fetch, read_list, sources, stated_licence
from lci_py.training.leaks import known_prints
from lci_py.training.licences import PERMISSIVE
from lci_py.training.mine import mine
from lci_py.types.record import replace


def _fetch(options: argparse.Namespace) -> None:
    packages = [*read_list(LIST), *read_list(EXCLUDED)]
    missing = fetch(options.work, packages)
    for package in missing:
        print(f"not to be had: {package.registry} {package.name} {package.version}", file=sys.stderr)
    print(f"{len(packages) - len(missing)} of {len(packages)} packages are there")


def _usable(options: argparse.Namespace) -> list[Package]:
    """The downloaded packages that still state the licence of the list."""
    found = []
    for package in read_list(LIST):
        folder = sources(options.work, package)
        if not folder.is_dir():
            continue
        stated = stated_licence(folder, package.registry)
        if package.licence not in PERMISSIVE or stated != package.licence:
            print(f"left out: {package.key} states {stated or 'no licence'}, not {package.licence}", file=sys.stderr)
            continue
        found.append(package)
    return found


def _prints(options: argparse.Namespace) -> None:
    excluded = [sources(options.work, package) for package in read_list(EXCLUDED)]
    folders = [folder for folder in excluded if folder.is_dir()]
    folders += [path for path in sorted(options.benchmark.iterdir()) if path.is_dir()] if options.benchmark else []
    held_out = [sources(options.work, package) for package in read_list(LIST) if package.part != "train"]
    # Two calls, because `known_prints` drops what more than four folders of one call share.
    known = np.unique(np.concatenate([known_prints(folders), known_prints([f for f in held_out if f.is_dir()])]))
    np.save(options.work / "known.npy", known)
    print(f"{len(known):,} fingerprints of {len(folders)} excluded and {len(held_out)} held-out trees")


def _mine(options: argparse.Namespace) -> None:
    total: Counter[str] = Counter()
    packages = _usable(options)
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(mine, options.work, package, options.work / "known.npy"): package for package in packages}
        for done, job in enumerate(as_completed(jobs), 1):
            try:
                report = job.result()
            except Exception as error:  # go on with the other packages
                print(f"failed: {jobs[job].key}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            if jobs[job].part == "train":
                total.update(report)
            if done % 50 == 0:
                print(f"{done} of {len(packages)} packages, {dict(total)}", flush=True)
    (options.work / "mined.json").write_text(json.dumps(dict(total), indent=1), "utf-8")
    print(json.dumps(dict(total)))


def _assemble(options: argparse.Namespace) -> None:
    from lci_py.training.dataset import assemble

    packages = [package for package in _usable(options) if package.part == "train"]
    report = assemble(options.work, packages)
    (options.work / "pairs.json").write_text(json.dumps(report, indent=1), "utf-8")
    print(json.dumps(report, indent=1))


def _prepare(options: argparse.Namespace) -> None:
    from lci_py.training.stages import prepare

    if options.sentence_model is None:
        raise SystemExit("--sentence-model is needed: a folder with model.onnx and tokenizer.json (docs/model.md)")
    prepare(options.work, options.sentence_model)


def _train(options: argparse.Namespace) -> None:
    from lci_py.training.stages import RECIPE, figures, fit

    path = fit(options.work, replace(RECIPE, seed=options.seed))
    found = figures(options.work, read_list(LIST), path)
    path.with_suffix(".json").write_text(json.dumps(found, indent=1), "utf-8")
    print(json.dumps(found, indent=1))


def _export(options: argparse.Namespace) -> None:
    from lci_py.training.stages import write_model

    print(json.dumps(write_model(options.work, options.work / f"model-{options.seed}.pt", options.target), indent=1))


def main() -> None:
    stages = {
        "fetch": _fetch, "prints": _prints, "mine": _mine, "assemble": _assemble, "prepare": _prepare,
        "train": _train, "export": _export,
    }  # fmt: skip
    parser = argparse.ArgumentParser(prog="python -m lci_py.training", description=__doc__)
    parser.add_argument("stage", choices=stages)
    parser.add_argument("--work", type=Path, required=True, help="folder for everything that is downloaded or made")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--benchmark", type=Path, help="checkouts of the benchmark's repositories, for the leak check")
    parser.add_argument("--sentence-model", type=Path, help="folder of all-MiniLM-L6-v2, for `prepare`")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--target", type=Path, default=Path(__file__).parent.parent / "embed" / "model", help="for `export`"
    )
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    stages[options.stage](options)


if __name__ == "__main__":
    main()
