"""`autoconv bench`: workloads beside NumPy and other compilers."""

from __future__ import annotations

import json as jsonlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from autoconv.errors import TargetError

from .diagnostics import say

_FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
_DEFAULT_FOLDER = _FIXTURES / "bench"
# Suites outside of the default folder: NumPy programs that are compiled unchanged, and Keras models that are trained.
_SUITE_FOLDERS = ("numpy", "keras")


@click.command(short_help="Measure workloads beside NumPy and other compilers.")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Run suite NAME; may be repeated.")
@click.option("--only", multiple=True, metavar="NAME", help="Run workload NAME; may be repeated.")
@click.option("--peer", "peers", multiple=True, metavar="NAME", help="Measure peer NAME; may be repeated.")
@click.option("--peers-python", default=sys.executable, metavar="PATH", help="Run the peers with the Python at PATH.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Number of rounds.")
@click.option("--seconds", type=click.FloatRange(min=0), default=0.2, show_default=True, help="Seconds of each round.")
@click.option("--folder", type=click.Path(path_type=Path), default=_DEFAULT_FOLDER, help="Folder of the workloads.")
@click.option("--small", is_flag=True, help="Use small inputs, only to check that everything works.")
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Also draw each peer's time divided by autoconv's into FILE.",
)  # fmt: skip
@click.option("--json", is_flag=True, help="Print one JSON document, in seconds and bytes.")
def bench(
    suites: tuple[str, ...], only: tuple[str, ...], peers: tuple[str, ...], peers_python: str, rounds: int,
    seconds: float, folder: Path, small: bool, plot: Path | None, json: bool,
) -> None:  # fmt: skip
    """Measure workloads: the time of a warm call, the time of the first call, and memory.

    The peers are NumPy, and JAX, TensorFlow (with and without XLA), Numba and torch.compile if they are installed.
    Each peer runs in a process of its own. Rounds are interleaved, each with new inputs, and the best time counts.
    Every result is checked against NumPy's. Compare only figures of the same run.

    \b
    Examples:
      autoconv bench
      autoconv bench --suite loops --peer jax --rounds 5
      autoconv bench --suite numpy --peer numpy --peer numba --peer autoconv
      autoconv bench --suite keras --peers-python peers/bin/python
      autoconv bench --peers-python peers/bin/python --plot ratios.png
    """
    import autoconv.bench.picture as picture  # imported on demand: loads NumPy
    import autoconv.bench.rounds as measuring
    import autoconv.bench.table as table

    suites_with_own_folder = [suite for suite in suites if suite in _SUITE_FOLDERS] if folder == _DEFAULT_FOLDER else []
    if suites_with_own_folder:
        files: dict[str, Path] = {}
        for suite in suites_with_own_folder:
            files |= measuring.workloads(_FIXTURES / suite, (), only)
        other_suites = tuple(suite for suite in suites if suite not in suites_with_own_folder)
        files |= measuring.workloads(folder, other_suites, only) if other_suites else {}
    else:
        files = measuring.workloads(folder, suites, only)
    settings = measuring.Settings(
        peers=_selected_peers(peers, measuring.PEERS),
        python=_checked_python(peers_python),
        rounds=rounds,
        seconds=seconds,
        tiny=small,
    )
    if plot is not None:
        picture.load_matplotlib()  # fails now if it is missing, not after the measurements
    measurements: dict[str, Any] = {}
    reason_by_absent_peer: dict[str, str] = {}  # `measure` adds to it
    if files and not small:
        # One run of each peer reads its libraries into the cache of the file system.
        measuring.prepare(next(iter(files.values())), settings)
    for name, file in files.items():
        say(f"{name} …", err=True)
        measurements[name] = measuring.measure(file, settings, reason_by_absent_peer)
    if plot is not None:
        picture.draw_ratios(measurements, plot)
    if json:
        say(jsonlib.dumps(table.as_data(measurements, reason_by_absent_peer), indent=2))
        return
    _print_tables(table.as_tables(measurements))
    for peer, reason in reason_by_absent_peer.items():
        say(f"{peer} is left out: {reason}")
    for note in table.notes(measurements):
        say(note)


def _selected_peers(names: tuple[str, ...], peers: Any) -> Any:
    """Return the peers of these names, with NumPy and autoconv in any case; all peers if no names are given."""
    known_names = [peer.name for peer in peers]
    unknown = sorted(set(names) - set(known_names))
    if unknown:
        raise TargetError(f"there is no peer {', '.join(unknown)}; the peers are: {', '.join(known_names)}")
    return tuple(peer for peer in peers if not names or peer.name in (*names, "numpy", "autoconv"))


def _checked_python(path: str) -> str:
    """Return the path of an interpreter; raise TargetError if it is not an executable file."""
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise TargetError(f"{path} is not an executable file; --peers-python takes the path of a Python interpreter")
    return path


def _print_tables(tables: list[Any]) -> None:
    from rich.console import Console  # slow to import, needed only here

    is_terminal = sys.stdout.isatty()
    console = Console(width=None if is_terminal else 160, force_terminal=is_terminal)
    for table in tables:
        with console.capture() as captured_text:
            console.print(table)
        say(captured_text.get())
