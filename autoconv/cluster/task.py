"""A task as the program sees it: a Ray actor, the graphs sent to it, and arrays in its memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.cluster.worker import Worker
from autoconv.errors import InvalidArgumentError, Place, UnavailableError
from autoconv.graph.graph import Graph
from autoconv.graph.text import to_text
from autoconv.graph.types import TensorType
from autoconv.runtime.support.spans import current_place

_START = 120.0  # seconds for the first answer of a worker


class RayTask:
    """A worker process, restarted when it is lost; what it held is lost then."""

    def __init__(self, ray: Any, job: str, number: int, address: str, resources: dict[str, float]) -> None:
        self.ray = ray
        self.name = f"/job:{job}/task:{number}"
        self.address = address
        actor = ray.remote(Worker)
        self._actor = actor.options(max_restarts=-1, num_cpus=0, resources=resources).remote()
        self._is_lost = False

    def wait_until_ready(self) -> int:
        """Return the number of the worker's process, also of one that starts again. Raises UnavailableError."""
        limit = time.monotonic() + _START
        while time.monotonic() < limit:
            try:
                result = int(self.ray.get(self._actor.ready.remote(), timeout=limit - time.monotonic()))
            except self.ray.exceptions.GetTimeoutError:
                break
            except self.ray.exceptions.ActorUnavailableError:
                time.sleep(0.1)
            except self.ray.exceptions.RayActorError as error:
                raise self.lost(error) from None
            else:
                self._is_lost = False
                return result
        raise UnavailableError(f"the worker {self.name} did not start within {_START:.0f} seconds")

    def end(self) -> None:
        """End the worker for good."""
        self.ray.kill(self._actor)

    def lost(self, error: Exception) -> UnavailableError:
        """Return the error for a call that a lost worker did not answer; the next call waits for the new one."""
        self._is_lost = True
        return UnavailableError(
            f"the worker {self.name} at {self.address} was lost: its process ended ({type(error).__name__}). It is "
            "started again; what was only in its memory has to be computed again"
        )

    def compile(self, graph: object) -> Callable[[Sequence[Any]], list[Any]]:
        """Return what runs a graph in the worker; its results stay there. Raises InvalidArgumentError for objects."""
        assert isinstance(graph, Graph)
        text = to_text(graph, spans=True)
        if "<opaque" in text:
            what = next((node for node in graph.walk() if "<opaque" in to_text_of(node)), None)
            where = "" if what is None or what.span is None else f" ({what.span})"
            raise InvalidArgumentError(f"a graph with Python objects cannot be sent to {self.name}{where}")
        types = [value.type for value in graph.outputs]
        sent = self.ray.put(text)
        return lambda arguments: self.call(sent, arguments, types)

    def call(self, sent: Any, arguments: Sequence[Any], types: Sequence[Any]) -> list[Any]:
        """Start a run of a graph in the worker, and return its results as RayArrays."""
        if self._is_lost:
            self.wait_until_ready()
        sent_arguments = [
            argument.reference if isinstance(argument, RayArray)
            else argument.fetch() if hasattr(argument, "fetch") else argument
            for argument in arguments
        ]  # fmt: skip
        answer = self._actor.run.options(num_returns=len(types)).remote(sent, *sent_arguments)
        references = [answer] if len(types) == 1 else answer or []
        place = current_place()
        return [RayArray(self, *pair, place) for pair in zip(references, types, strict=True)]


def to_text_of(node: Any) -> str:
    """Return a node's attributes as text."""
    whole = Graph("one")
    whole.nodes.append(node)
    return to_text(whole)


class RayArray:
    """An array in a worker's memory: a reference, the type, and the user's line that made it."""

    def __init__(self, task: RayTask, reference: Any, type_: TensorType, place: Place | None) -> None:
        self.reference = reference
        self.type = type_
        self._task = task
        self._place = place
        self._array: np.ndarray | None = None

    def fetch(self) -> np.ndarray:
        if self._array is None:
            ray = self._task.ray
            try:
                self._array = np.asarray(ray.get(self.reference))
            except ray.exceptions.RayTaskError as error:
                raise self._of_program(error) from None
            except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as error:
                raise self._task.lost(error) from None
        return self._array

    def _of_program(self, error: Any) -> BaseException:
        """Return the error that the graph raised, with the user's line."""
        result: Any = error.cause if isinstance(error.cause, BaseException) else error
        if isinstance(result, (self._task.ray.exceptions.RayActorError, self._task.ray.exceptions.ObjectLostError)):
            return self._task.lost(result)
        if getattr(result, "place", False) is None:
            result.place = self._place
        return result  # type: ignore[no-any-return]
