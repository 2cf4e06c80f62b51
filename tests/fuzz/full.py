"""Random programs over the whole of Python's grammar, plain against converted, with outlined loops, and compiled.

    python tests/fuzz/full.py --programs 20000 --seed 0 --processes 2
    python tests/fuzz/full.py --show 17 [--shrink]
    python tests/fuzz/full.py --programs 500 --without try,generators
    python tests/fuzz/full.py --programs 30 --each-feature
    python tests/fuzz/full.py --programs 1000 --kept
    AUTOCONV_TIERS=native python tests/fuzz/full.py --programs 500 --outlined

Results with their types, exceptions, output and events have to be the same. A program counts as staged when one trace
serves all its calls and nothing ran as plain Python. The table lists the reasons of the others, and the reasons for
which fixtures/errors has no program. The exit code is 1 when there is such a reason, a wrong result or a crash.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

if __name__ == "__main__":
    os.environ.setdefault("AUTOCONV_VERIFY", "1")  # as for the tests in this folder

from differential.compare import count_paths
from differential.smaller import reduce_program
from differential.summary import Summary
from differential.verdict import Verdict, judge
from grammar.features import FEATURES, REQUIRED_FEATURES
from grammar.program import Program, program


@dataclass(frozen=True)
class Job:
    """The seed and the options of a program to write and judge."""

    seed: int
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    size: int = 0
    subsets: bool = False
    stages: str = "converted outlined compiled"
    uses_all: bool = False
    kept: bool = False
    outlined: bool = False

    def program(self) -> Program:
        generated = program(self.seed, self.without, self.only, self.size, self.uses_all, self.kept)
        if not self.outlined:
            return generated
        source = re.sub(r"^def program\(.*:$", r"\g<0>\n    time.time()", generated.source, flags=re.MULTILINE)
        return replace(generated, source="import time\n" + source)


def run(job: Job) -> tuple[Job, Program, Verdict, int]:
    """Judge the program of a job; return the job, its program, the verdict, and the number of paths of its calls."""
    generated = job.program()
    verdict = judge(generated, job.subsets, job.stages)
    path_count = 0 if verdict.status == "skipped" else count_paths(generated.source, generated.inputs)
    return job, generated, verdict, path_count


def search(jobs: list[Job], processes: int = 1) -> tuple[Summary, dict[int, Verdict]]:
    """Return the summary, and the verdicts of programs that were not staged by seed. An interrupt ends the search."""
    summary, verdicts = Summary(), {}
    try:
        for job, generated, verdict, path_count in _results(jobs, processes):
            summary.add(job.seed, generated, verdict, path_count)
            if verdict.status != "staged":
                verdicts[job.seed] = verdict
            if verdict.status in ("wrong", "crash"):  # print it now: the rest of a long run may take an hour
                message = f"{summary.programs}: seed {job.seed} {verdict.status}: {verdict.kind}"
                print(message, file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"interrupted after {summary.programs} of {len(jobs)} programs", file=sys.stderr, flush=True)
    return summary, verdicts


def _results(jobs: list[Job], processes: int) -> Iterator[tuple[Job, Program, Verdict, int]]:
    if processes <= 1:
        yield from map(run, jobs)
        return
    ignored = (signal.SIGINT, signal.SIG_IGN)  # only the first process handles an interrupt, and ends the others
    with multiprocessing.Pool(processes, signal.signal, ignored, maxtasksperchild=500) as pool:
        yield from pool.imap_unordered(run, jobs, chunksize=10)


def feature_table(options: argparse.Namespace) -> str:
    """Return a line for each feature (with the one it requires): the share of staged programs, common obstacles."""
    lines = ["programs with one feature each: the share that was staged, and what stops most of the others"]
    for feature in FEATURES:
        only = tuple({feature, REQUIRED_FEATURES.get(feature, feature)})
        jobs = [Job(seed, only=only, size=options.size or 12, uses_all=True) for seed in _seeds(options)]
        summary, _ = search(jobs, options.processes)
        obstacles = [
            f"{len(seeds)} {status}: {kind[:90]} (seed {seeds[0]})" for status, kind, seeds in summary.ordered()
        ]
        share = summary.statuses["staged"] / summary.programs
        lines.append(f"  {feature:<22}{share:>5.0%}  {obstacles[0] if obstacles else ''}")
        lines += [" " * 31 + text for text in obstacles[1:3]]
    return "\n".join(lines)


def report(job: Job, shrinks: bool) -> str:
    """Return the program of a job with its verdict; with `shrinks`, a program that was not staged is reduced first."""
    _, generated, verdict, path_count = run(job)
    if shrinks and verdict.status != "staged":
        generated = reduce_program(generated, verdict)
        verdict = judge(generated, job.subsets)
    lines = [f"# seed {job.seed}: {verdict.status}{': ' * bool(verdict.kind)}{verdict.kind}", str(generated)]
    lines += [f"# {line}" for text in (verdict.details, verdict.explanation) for line in text.splitlines()]
    return "\n".join([*lines, f"# {path_count} paths, {verdict.conditions} conditions and loops in the graph"])


def _seeds(options: argparse.Namespace) -> range:
    return range(options.seed, options.seed + options.programs)


def _parse_features(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in FEATURES:
            raise argparse.ArgumentTypeError(f"{name!r} is no feature; there are {', '.join(FEATURES)}")
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=500, help="the number of programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, default=0, help="approximate statements in a program; 0: several sizes")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--without", type=_parse_features, default=(), metavar="A,B", help="features to leave out")
    parser.add_argument("--only", type=_parse_features, default=(), metavar="A,B", help="the only features to use")
    parser.add_argument("--kept", action="store_true", help="return functions and iterators, whose calls run plain")
    parser.add_argument("--outlined", action="store_true", help="begin with an unknown call: loops run by themselves")
    parser.add_argument("--each-feature", action="store_true", help="judge --programs programs for each feature")
    parser.add_argument("--plain-values", action="store_true", help="judge only converted code on plain values")
    parser.add_argument("--subsets", action="store_true", help="judge each backend, and disabled optimisations, too")
    parser.add_argument("--show", type=int, metavar="SEED", help="print one program and its verdict")
    parser.add_argument("--shrink", action="store_true", help="with --show: reduce the program first")
    parser.add_argument("--failures", type=int, default=3, help="print a reduced program for this number of failures")
    parser.add_argument("--examples", action="store_true", help="print a reduced program for every kind in the table")
    options = parser.parse_args()
    gc.freeze()  # imported modules are no garbage; to collect it at the usual rate takes a fifth of the time
    gc.set_threshold(50_000, 20, 50)
    shared = (
        options.without,
        options.only,
        options.size,
        options.subsets,
        "converted" if options.plain_values else Job.stages,
        False,
        options.kept,
        options.outlined,
    )
    if options.show is not None:
        print(report(Job(options.show, *shared), options.shrink))
        return 0
    if options.each_feature:
        print(feature_table(options))
        return 0
    jobs = [Job(seed, *shared) for seed in _seeds(options)]
    summary, _ = search(jobs, options.processes)
    print(summary.text(), flush=True)
    rows = summary.ordered() if options.examples else summary.failures()[: options.failures]
    arguments = [(Job(summary.shortest(seeds), *shared), True) for _, _, seeds in rows]
    with multiprocessing.Pool(options.processes, maxtasksperchild=1) as pool:
        for (_, _, seeds), text in zip(rows, pool.starmap(report, arguments, chunksize=1), strict=True):
            print(f"\n# {len(seeds)} of {summary.programs} programs\n{text}", flush=True)
    return 1 if summary.failures() or summary.undocumented() else 0


if __name__ == "__main__":
    sys.exit(main())
