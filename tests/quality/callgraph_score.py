"""Counts of agreement between two sets of call edges, by category, and how they are printed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lci_py.types.edges import STEPS

Edge = tuple[str, str]  # caller, callee, in the names of the truth set


def step_of(how: str) -> str:
    """The step that made an edge, with its mark, by the origin of the edge; "" if the origin does not say."""
    words = how.split()
    found = next((word for word in words if word in STEPS), "")
    return f"{found} ambiguous" if found and "ambiguous" in words else found


def show_steps(steps: Mapping[str, Counter[str]]) -> None:
    """Print how many edges of each step are right and wrong."""
    for step, row in sorted(steps.items()):
        figures = "".join(f" {row[label]:6d} {label}" for label in ("right", "overriding", "wrong") if row[label])
        print(f"    {step:22s}{figures}  {ratio(row['right'], row['right'] + row['wrong'])}")


def ratio(part: int, whole: int) -> str:
    return f"{part / whole:6.3f}" if whole else "   n/a"


@dataclass
class Score:
    """Agreement over the cases of one truth set.

    Attributes:
        rows: Per category, the counts `truth`, `tp`, `fp`, `fn`.
        exact, sound, complete: Numbers of cases with no difference, with nothing missing, with nothing wrong.
        steps: Per step of our edges, the counts `right` and `wrong`, for edges that say their step.
        lines: Every disagreement, as text.
        notes: Further figures, a line each.
    """

    title: str
    judge_extra: bool = True  # whether the truth is complete, so that edges it lacks are wrong
    rows: dict[str, Counter[str]] = field(default_factory=dict)
    cases: int = 0
    exact: int = 0
    sound: int = 0
    complete: int = 0
    steps: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, category: str, case: str, truth: Iterable[Edge], ours: Mapping[Edge, str]) -> None:
        """Count one case.

        Args:
            truth: The expected edges.
            ours: Our edges, with the origin of each.
        """
        expected = set(truth)
        missing, extra = expected - ours.keys(), ours.keys() - expected
        row = self.rows.setdefault(category, Counter())
        row.update(truth=len(expected), tp=len(expected & ours.keys()), fp=len(extra), fn=len(missing))
        marked = Counter("right" if edge in expected else "wrong" for edge, how in ours.items() if "ambiguous" in how)
        row.update(marked)
        for edge, how in ours.items():
            if step := step_of(how):
                self.steps[step]["right" if edge in expected else "wrong"] += 1
        self.cases += 1
        self.sound += not missing
        self.complete += not extra
        self.exact += not missing and not extra
        self.lines += [f"  {case}: miss   {a} -> {b}" for a, b in sorted(missing)]
        self.lines += [f"  {case}: extra  {a} -> {b}  ({ours[a, b]})" for a, b in sorted(extra)]

    def total(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for row in self.rows.values():
            total.update(row)
        return total

    def show(self, *, verbose: bool = False) -> None:
        """Print the table, and with `verbose` every disagreement."""
        total = self.total()
        print(self.title)
        print(f"  {'category':24s} {'truth':>6s} {'tp':>6s} {'fp':>6s} {'fn':>6s}  precision  recall")
        for category, row in sorted(self.rows.items()):
            print(self._row(category, row))
        print(self._row("all", total))
        if self.cases > len(self.rows):
            wrong = f", {self.complete} with nothing wrong" if self.judge_extra else ""
            print(f"  cases {self.cases}: {self.exact} exact, {self.sound} with nothing missing{wrong}")
        if self.judge_extra and total["right"] + total["wrong"]:
            right, wrong_alone = total["tp"] - total["right"], total["fp"] - total["wrong"]
            print(f"  marked ambiguous: {total['right']} right, {total['wrong']} wrong;", end="")
            print(f" the others: {right} right, {wrong_alone} wrong, precision {ratio(right, right + wrong_alone)}")
        if self.judge_extra:
            show_steps(self.steps)
        for line in [*self.notes, *(self.lines if verbose else ())]:
            print(line)

    def _row(self, name: str, row: Counter[str]) -> str:
        tp, fp, fn = row["tp"], row["fp"], row["fn"]
        precision = ratio(tp, tp + fp if self.judge_extra else 0)
        return f"  {name:24s} {row['truth']:6d} {tp:6d} {fp:6d} {fn:6d}     {precision}  {ratio(tp, tp + fn)}"
