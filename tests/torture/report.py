"""What the long forms share: arguments, figures, violations, exit code."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable

_SHOWN = 20


class Report:
    """Counts attempts and violations; the first violations are printed in full."""

    def __init__(self, title: str, seed: int, *, verbose: bool = True) -> None:
        self.title = title
        self.seed = seed
        self.figures: Counter[str] = Counter()
        self.violations: list[str] = []
        self._verbose = verbose
        self._began = time.monotonic()

    def count(self, what: str, number: int = 1) -> None:
        self.figures[what] += number

    def most(self, what: str, number: float) -> None:
        """Keep the largest value seen."""
        self.figures[what] = max(self.figures[what], round(number))

    def violation(self, text: str) -> None:
        self.violations.append(text)
        if self._verbose and len(self.violations) <= _SHOWN:
            print(f"VIOLATION {len(self.violations)}: {text}", flush=True)

    def progress(self, done: int, total: int) -> None:
        if self._verbose and sys.stderr.isatty():
            print(f"\r{self.title}: {done}/{total}, {len(self.violations)} violations ", end="", file=sys.stderr)

    def end(self) -> int:
        """Print the table; 1 if there was a violation."""
        rows = [("seed", self.seed), ("seconds", round(time.monotonic() - self._began))]
        rows += sorted(self.figures.items())
        rows += [("violations", len(self.violations))]
        width = max(len(name) for name, _ in rows)
        print(f"\n{self.title}")
        for name, value in rows:
            print(f"  {name:<{width}}  {value:>12,}")
        return 1 if self.violations else 0


def arguments(doc: str | None, **defaults: int) -> argparse.Namespace:
    """`--seed` and one whole number per default, as flags."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time; it is printed")
    for name, value in defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value, help=f"default: {value}")
    return parser.parse_args()


def in_parallel(work: Callable[[int], None], workers: int) -> None:
    """Call `work` with 0 … workers - 1, each in a thread, and raise the first exception."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work, number) for number in range(workers)]:
            future.result()
