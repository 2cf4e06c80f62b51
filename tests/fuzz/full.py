"""Random programs over the whole of Python's grammar: plain Python against converted code and `@autoconv.compile`.

    python tests/fuzz/full.py --programs 20000 --seed 0 --processes 2
    python tests/fuzz/full.py --show 17 [--shrink]
    python tests/fuzz/full.py --programs 500 --without try,generators
    python tests/fuzz/full.py --programs 30 --each-feature
    python tests/fuzz/full.py --programs 1000 --kept

Results with their types, exceptions, output and events have to be the same. A program counts as staged when one trace
serves all its calls and nothing ran as plain Python; the table says why the others did not, and whether fixtures/errors
shows a program for every such reason. The exit code is 1 when it does not, and when anything was wrong or a crash.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("AUTOCONV_VERIFY", "1")  # as for the tests in this folder
sys.path.insert(0, str(Path(__file__).resolve().parent))

from differential.compare import paths
from differential.smaller import smaller
from differential.summary import Summary
from differential.verdict import Verdict, judge
from grammar.features import FEATURES, NEEDS
from grammar.program import Program, program


@dataclass(frozen=True)
class Job:
    """One program to make and judge."""

    seed: int
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    size: int = 0
    subsets: bool = False
    stages: str = "converted compiled"
    sure: bool = False
    kept: bool = False

    def program(self) -> Program:
        return program(self.seed, self.without, self.only, self.size, self.sure, self.kept)


def run(job: Job) -> tuple[Job, Program, Verdict, int]:
    """One program, its verdict, and how many paths its calls take."""
    made = job.program()
    verdict = judge(made, job.subsets, job.stages)
    return job, made, verdict, 0 if verdict.status == "skipped" else paths(made.source, made.inputs)


def search(jobs: list[Job], processes: int = 1) -> tuple[Summary, dict[int, Verdict]]:
    """The summary, and the verdicts of what was not staged by seed; of a run that is interrupted, as far as it went."""
    summary, verdicts = Summary(), {}
    try:
        for job, made, verdict, count in _results(jobs, processes):
            summary.add(job.seed, made, verdict, count)
            if verdict.status != "staged":
                verdicts[job.seed] = verdict
            if verdict.status in ("wrong", "crash"):  # at once: the rest of a long run may take an hour
                told = f"{summary.programs}: seed {job.seed} {verdict.status}: {verdict.kind}"
                print(told, file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"interrupted after {summary.programs} of {len(jobs)} programs", file=sys.stderr, flush=True)
    return summary, verdicts


def _results(jobs: list[Job], processes: int) -> Iterator[tuple[Job, Program, Verdict, int]]:
    if processes <= 1:
        yield from map(run, jobs)
        return
    ignored = (signal.SIGINT, signal.SIG_IGN)  # the first process is interrupted, and ends the others
    with multiprocessing.Pool(processes, signal.signal, ignored, maxtasksperchild=500) as pool:
        yield from pool.imap_unordered(run, jobs, chunksize=10)


def each_feature(options: argparse.Namespace) -> str:
    """One line a feature: the share staged of programs with this one (and what it needs), and what stops the others."""
    lines = ["programs with one feature each: staged, and what stops most of the others"]
    for feature in FEATURES:
        only = tuple({feature, NEEDS.get(feature, feature)})
        jobs = [Job(seed, only=only, size=options.size or 12, sure=True) for seed in _seeds(options)]
        summary, _ = search(jobs, options.processes)
        stopped = [f"{len(seeds)} {status}: {kind[:90]} (seed {seeds[0]})" for status, kind, seeds in summary.ordered()]
        share = summary.statuses["staged"] / summary.programs
        lines.append(f"  {feature:<22}{share:>5.0%}  {stopped[0] if stopped else ''}")
        lines += [" " * 31 + text for text in stopped[1:3]]
    return "\n".join(lines)


def report(job: Job, shrunk: bool) -> str:
    """A program with what became of it, made small when `shrunk`."""
    _, made, verdict, count = run(job)
    if shrunk and verdict.status != "staged":
        made = smaller(made, verdict)
        verdict = judge(made, job.subsets)
    lines = [f"# seed {job.seed}: {verdict.status}{': ' * bool(verdict.kind)}{verdict.kind}", str(made)]
    lines += [f"# {line}" for text in (verdict.details, verdict.explained) for line in text.splitlines()]
    return "\n".join([*lines, f"# {count} paths, {verdict.conditions} conditions and loops in the graph"])


def _seeds(options: argparse.Namespace) -> range:
    return range(options.seed, options.seed + options.programs)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in FEATURES:
            raise argparse.ArgumentTypeError(f"{name!r} is no feature; there are {', '.join(FEATURES)}")
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=500, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, default=0, help="statements in a program, about; 0 mixes")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--without", type=_names, default=(), metavar="A,B", help="features to leave out")
    parser.add_argument("--only", type=_names, default=(), metavar="A,B", help="the only features to use")
    parser.add_argument("--kept", action="store_true", help="give out functions and iterators: those calls run plain")
    parser.add_argument("--each-feature", action="store_true", help="so many programs for every feature alone")
    parser.add_argument("--plain-values", action="store_true", help="converted code on plain values only")
    parser.add_argument("--subsets", action="store_true", help="each backend, and optimisations left out, too")
    parser.add_argument("--show", type=int, metavar="SEED", help="print one program and what became of it")
    parser.add_argument("--shrink", action="store_true", help="with --show: make it small first")
    parser.add_argument("--failures", type=int, default=3, help="how many kinds of failures to print, made small")
    parser.add_argument("--examples", action="store_true", help="a small program for every kind in the table")
    options = parser.parse_args()
    gc.freeze()  # what was imported stays; looking for garbage at every turn takes a fifth of the time
    gc.set_threshold(50_000, 20, 50)
    shared = (
        options.without,
        options.only,
        options.size,
        options.subsets,
        "converted" if options.plain_values else Job.stages,
        False,
        options.kept,
    )
    if options.show is not None:
        print(report(Job(options.show, *shared), options.shrink))
        return 0
    if options.each_feature:
        print(each_feature(options))
        return 0
    jobs = [Job(seed, *shared) for seed in _seeds(options)]
    summary, _ = search(jobs, options.processes)
    print(summary.text(), flush=True)
    rows = summary.ordered() if options.examples else summary.failures()[: options.failures]
    small = [(Job(summary.shortest(seeds), *shared), True) for _, _, seeds in rows]
    with multiprocessing.Pool(options.processes, maxtasksperchild=1) as pool:
        for (_, _, seeds), text in zip(rows, pool.starmap(report, small, chunksize=1), strict=True):
            print(f"\n# {len(seeds)} of {summary.programs} programs\n{text}", flush=True)
    return 1 if summary.failures() or summary.undocumented() else 0


if __name__ == "__main__":
    sys.exit(main())
