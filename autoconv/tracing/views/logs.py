"""Log output about traces and their optimisation, by AUTOCONV_LOGS (see `autoconv.runtime.support.logs`)."""

from __future__ import annotations

import time
from collections.abc import Callable

from autoconv.config import SETTINGS
from autoconv.graph.graph import Graph
from autoconv.graph.text import to_text
from autoconv.runtime.support.logs import is_logged, log
from autoconv.runtime.support.spans import current_place


class log_trace:
    """Context manager that logs the trace made inside it: the trace with the number `number` of the function `name`."""

    def __init__(self, name: str, number: int, reason: str) -> None:
        self.description = f"{name}: trace {number}, {reason}"
        self.start = time.perf_counter()

    def __enter__(self) -> None:
        pass

    def __exit__(self, exception_class: object, *_: object) -> None:
        if is_logged("retraces"):
            place = current_place()
            call_text = f", called at {place}" if place is not None else ""
            outcome = "failed after" if exception_class else "took"
            log("retraces", f"{self.description}{call_text}; it {outcome} {_elapsed_text(self.start)}")


def log_graphs(name: str, recorded: Graph, optimised: Graph) -> None:
    """Log the graph of a trace, before and after the optimisations."""
    if is_logged("graph"):
        log("graph", f"{name}, as recorded:\n{to_text(recorded)}{name}, as it runs:\n{to_text(optimised)}")


def make_optimisation_logger(name: str) -> Callable[[str, Graph], None] | None:
    """Return a callback that logs each optimisation of a trace: its name and the number of nodes after it.

    Return None if passes are not logged.
    """
    if not is_logged("passes"):
        return None
    previous_time = time.perf_counter()

    def log_stage(stage: str, graph: Graph) -> None:
        nonlocal previous_time
        node_count = sum(1 for _ in graph.walk())
        time_text = "" if stage == "before" else f", {_elapsed_text(previous_time)}"
        log("passes", f"{name}: {'recorded' if stage == 'before' else stage}: {node_count} nodes{time_text}")
        previous_time = time.perf_counter()

    return log_stage


def watch_conversion() -> None:
    """Log the passes of conversions from now on."""
    from autoconv import passes  # lazily, because it imports gast

    passes.PASS_WATCHERS.append(lambda file, name, seconds: log("passes", f"{file}: {name}: {seconds * 1e3:.1f} ms"))


def _elapsed_text(start: float) -> str:
    """Return the time since `start`, a value of `time.perf_counter()`, as text for users."""
    return f"{(time.perf_counter() - start) * 1e3:.1f} ms"


if "passes" in SETTINGS.logs:
    watch_conversion()
