"""A table of the outcomes of many programs."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from grammar.features import EXCLUDED, FEATURES, grammar_nodes, node_classes
from grammar.program import INPUTS, Program

from differential.documented import is_documented
from differential.verdict import STATUSES, Verdict

_WIDTH = 118


@dataclass
class Summary:
    """Counts of outcomes; `add` adds a program, `text` returns the table."""

    programs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    kinds: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    nodes: Counter[str] = field(default_factory=Counter)
    staged_nodes: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    staged_features: Counter[str] = field(default_factory=Counter)
    conditions: int = 0
    returning_calls: int = 0
    paths: int = 0
    lengths: dict[int, int] = field(default_factory=dict)

    def add(self, seed: int, program: Program, verdict: Verdict, paths: int) -> None:
        self.programs += 1
        self.statuses[verdict.status] += 1
        staged = verdict.status == "staged"
        node_counts = node_classes(program.source)
        self.nodes.update(node_counts)
        self.features.update(program.features)
        if staged:
            self.staged_nodes.update(node_counts)
            self.staged_features.update(program.features)
            self.conditions += verdict.conditions
        else:
            self.kinds[verdict.status, verdict.kind].append(seed)
        self.returning_calls += verdict.returning_calls
        self.paths += paths
        self.lengths[seed] = len(program.source)

    def failures(self) -> list[tuple[str, str, list[int]]]:
        """Return status, kind and seeds of wrong results and crashes, the most frequent first."""
        return [row for row in self.ordered() if row[0] in ("wrong", "crash")]

    def undocumented(self) -> list[str]:
        """Return the kinds of refused and plain programs without an example in fixtures/errors."""
        kinds = [kind for status, kind, _ in self.ordered() if status in ("refused", "plain")]
        return [kind for kind in kinds if not is_documented(kind)]

    def ordered(self) -> list[tuple[str, str, list[int]]]:
        rows = [(status, kind, seeds) for (status, kind), seeds in self.kinds.items()]
        return sorted(rows, key=lambda row: (-len(row[2]), row[0], row[1]))

    def shortest(self, seeds: list[int]) -> int:
        """Return the seed of the shortest of these programs."""
        return min(seeds, key=lambda seed: (self.lengths[seed], seed))

    def text(self) -> str:
        total = max(self.programs, 1)
        parts = [f"{self.programs} programs of {INPUTS} calls each, {self.paths / total:.1f} paths a program, "
                 f"{self.returning_calls / total / INPUTS:.0%} of the calls return"]  # fmt: skip
        parts += [f"  {name:<9}{self.statuses[name]:>7}{self.statuses[name] / total:>8.1%}" for name in STATUSES]
        parts.append(f"  {self.conditions} conditions and loops in the graphs of staged programs")
        parts += ["", "what was not staged: programs, share, status, kind (an example's seed)"]
        for status, kind, seeds in self.ordered():
            share = f"{len(seeds) / total:.1%}"
            parts.append(f"  {len(seeds):>6}{share:>7}  {status:<9}{kind} (--show {self.shortest(seeds)})")
        parts += [f"  not in fixtures/errors: {kind}" for kind in self.undocumented()]
        if not self.undocumented():
            parts.append("  fixtures/errors shows a program of every kind that was refused or ran plain")
        parts += ["", "features: programs that may use it, share of them staged"]
        parts += _columns((name, self.features[name], self.staged_features[name]) for name in FEATURES)
        parts += ["", "nodes of Python's grammar: staged programs with it, other programs with it"]
        names = [name for name in grammar_nodes() if name not in EXCLUDED]
        cells = [f"{name} {self.staged_nodes[name]}/{self.nodes[name] - self.staged_nodes[name]}" for name in names]
        parts += _rows(cells, 28)
        never_staged = [name for name in names if not self.staged_nodes[name]]
        parts.append(f"  never staged: {', '.join(never_staged) or 'none'}")
        parts.append(f"  left out: {', '.join(sorted(set(EXCLUDED) & set(grammar_nodes())))}")
        return "\n".join(parts)


def _columns(rows: object) -> list[str]:
    cells = []
    for name, count, staged in rows:  # type: ignore[attr-defined]
        share = f"{staged / count:.0%}" if count else "-"
        cells.append(f"{name:<22}{count:>6}{share:>6}")
    return _rows(cells, 38)


def _rows(cells: list[str], width: int) -> list[str]:
    cells_per_row = max(_WIDTH // width, 1)
    return [
        "  " + "".join(cell.ljust(width) for cell in cells[start : start + cells_per_row]).rstrip()
        for start in range(0, len(cells), cells_per_row)
    ]
