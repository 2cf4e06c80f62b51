"""The program's side of a cluster's task: a Ray actor, graphs that are sent to it, and arrays in its memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.cluster.worker import CellKey, Worker
from autoconv.config.placement import TASKS
from autoconv.errors import InvalidArgumentError, Place, UnavailableError
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.text import to_text
from autoconv.graph.types import TensorType
from autoconv.ops.values.remote_array import RemoteArray
from autoconv.runtime.objects.storage import RemoteStorage
from autoconv.runtime.support.spans import current_place

_START_TIMEOUT = 120.0  # seconds for the first answer of a worker
_MAX_INLINE_LENGTH = 4096  # characters of a graph's text that is sent with each call; that of an eager op has some 100
_MAX_REFERENCES = 1024  # number of references to texts of graphs that a task keeps


class RayTask:
    """A worker process. When it ends, it is started again, and the contents of its memory are lost."""

    def __init__(self, ray: Any, job: str, number: int, address: str, resources: dict[str, float]) -> None:
        self.ray = ray
        self.name = f"/job:{job}/task:{number}"
        self.address = address
        actor = ray.remote(Worker)
        self._actor = actor.options(max_restarts=-1, num_cpus=0, resources=resources).remote(self.name)
        self.actor_id = self._actor._actor_id.hex()
        self._is_lost = False
        self._text_references: dict[str, Any] = {}

    def wait_until_ready(self) -> int:
        """Wait until the worker runs, also when it starts again, and return the id of its process.

        Raises UnavailableError if it does not start.
        """
        deadline = time.monotonic() + _START_TIMEOUT
        while time.monotonic() < deadline:
            try:
                result = int(self.ray.get(self._actor.process_id.remote(), timeout=deadline - time.monotonic()))
            except self.ray.exceptions.GetTimeoutError:
                break
            except self.ray.exceptions.ActorUnavailableError:
                time.sleep(0.1)
            except self.ray.exceptions.RayActorError as error:
                raise self.lost_error(error) from None
            else:
                self._is_lost = False
                return result
        raise UnavailableError(f"the worker {self.name} did not start within {_START_TIMEOUT:.0f} seconds")

    def end(self) -> None:
        """End the worker, which is not started again."""
        self.ray.kill(self._actor)

    def lost_error(self, error: Exception) -> UnavailableError:
        """Return the error of a call that a lost worker does not answer; the task's next call waits for a new worker.

        The lost worker is that of this task, or of another task whose results are arguments of the call.
        """
        lost_actor = getattr(error, "actor_id", None)
        if lost_actor is not None and lost_actor != self.actor_id:
            lost_task = next((task for task in TASKS.values() if getattr(task, "actor_id", None) == lost_actor), None)
            if isinstance(lost_task, RayTask):
                return lost_task.lost_error(error)
        self._is_lost = True
        return UnavailableError(
            f"the worker {self.name} at {self.address} was lost: its process ended ({type(error).__name__}). It is "
            "started again; what was only in its memory has to be computed again"
        )

    def compile(self, graph: object) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a function that runs a graph in the worker, where the results stay.

        Raises InvalidArgumentError for a graph with Python objects.
        """
        assert isinstance(graph, Graph)
        text = to_text(graph, spans=True)
        if "<opaque" in text:
            opaque_node = next((node for node in graph.walk() if "<opaque" in node_text(node)), None)
            location = "" if opaque_node is None or opaque_node.span is None else f" ({opaque_node.span})"
            raise InvalidArgumentError(f"a graph with Python objects cannot be sent to {self.name}{location}")
        types = [value.type for value in graph.outputs]
        graph_text = self._text_to_send(text)
        assigns_variables = bool(graph.effects & Effects.WRITE)
        return lambda arguments: self.call(graph_text, arguments, types, assigns_variables)

    def call(
        self, graph_text: Any, arguments: Sequence[Any], types: Sequence[Any], assigns_variables: bool = False
    ) -> list[Any]:
        """Start a run of a graph in the worker, and return its results as RayArrays.

        If the graph assigns variables, the call waits for the end of the run, and raises its errors.
        """
        actor = self._ready_actor()
        result_count = len(types) + assigns_variables
        sent_arguments = map(self._argument_to_send, arguments)
        answer = actor.run.options(num_returns=result_count).remote(graph_text, assigns_variables, *sent_arguments)
        references = [answer] if result_count == 1 else answer or []
        place = current_place()
        if assigns_variables:
            self.value_of(references.pop(), place)
        return [RayArray(self, reference, type_, place) for reference, type_ in zip(references, types, strict=True)]

    def read_cell(self, number: int, name: str) -> np.ndarray:
        """Return the value of a variable; raises UnavailableError if it was lost with the process."""
        return np.array(self.value_of(self._ready_actor().read_cell.remote(CellKey(number, name)), current_place()))

    def set_cell(self, number: int, value: object) -> None:
        """Set the value of a variable to an array of this process or of the worker."""
        self.value_of(self._ready_actor().set_cell.remote(number, self._argument_to_send(value)), current_place())

    def drop_cell(self, number: int) -> None:
        """Free the memory of a variable."""
        if self.ray.is_initialized():
            self._actor.drop_cell.remote(number)

    def _text_to_send(self, text: str) -> Any:
        """Return what is sent for a graph with each call: its text if that is short, else a reference by Ray."""
        if len(text) <= _MAX_INLINE_LENGTH:
            return text
        reference = self._text_references.get(text)
        if reference is None:
            reference = self.ray.put(text)
            if len(self._text_references) < _MAX_REFERENCES:
                self._text_references[text] = reference
        return reference

    def _ready_actor(self) -> Any:
        """Return the actor; if it was lost, wait until it runs again."""
        if self._is_lost:
            self.wait_until_ready()
        return self._actor

    def _argument_to_send(self, argument: object) -> Any:
        """Return an argument in the form in which it is sent: a reference or key if the worker has the value."""
        if isinstance(argument, RayArray):
            return argument.reference
        if isinstance(argument, RemoteStorage) and argument.task is self:
            return CellKey(argument.number, argument.name)
        return argument.fetch() if isinstance(argument, RemoteArray) else argument

    def value_of(self, reference: Any, place: Place | None) -> Any:
        """Return the value of a reference. Raises the error of its computation, with `place`, the user's line."""
        exceptions = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except exceptions.RayTaskError as error:
            raise self._program_error(error, place) from None
        except (exceptions.RayActorError, exceptions.ObjectLostError) as error:
            raise self.lost_error(error) from None

    def _program_error(self, error: Any, place: Place | None) -> BaseException:
        """Return the error that a graph raised, with the user's line."""
        result: Any = error.cause if isinstance(error.cause, BaseException) else error
        if isinstance(result, (self.ray.exceptions.RayActorError, self.ray.exceptions.ObjectLostError)):
            return self.lost_error(result)
        if getattr(result, "place", False) is None:  # an error of this package, without a place
            result.place = place
        return result  # type: ignore[no-any-return]


def node_text(node: Any) -> str:
    """Return a node as text."""
    graph = Graph("one")
    graph.nodes.append(node)
    return to_text(graph)


class RayArray(RemoteArray):
    """An array in a worker's memory: a reference, the type, and the user's line that made it."""

    def __init__(self, task: RayTask, reference: Any, type_: TensorType, place: Place | None) -> None:
        self.reference = reference
        self.type = type_
        self._task = task
        self._place = place
        self._array: np.ndarray | None = None

    def fetch(self) -> np.ndarray:
        if self._array is None:
            self._array = np.asarray(self._task.value_of(self.reference, self._place))
        return self._array
