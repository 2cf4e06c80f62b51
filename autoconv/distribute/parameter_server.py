"""Training by workers that do not wait for each other: variables are in the memory of parameter servers."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoconv.api.scopes import device
from autoconv.config.cluster import experimental_connect_to_cluster
from autoconv.config.placement import TASKS
from autoconv.distribute.strategy import Strategy
from autoconv.errors import UnimplementedError
from autoconv.runtime.objects.variable_updates import variable_creator_scope
from autoconv.train.cluster_spec import ClusterSpec


class ParameterServerStrategy(Strategy):
    """A strategy that places variables on the tasks of `ps` in rotation, and runs functions on those of `worker`.

    `cluster_resolver` gives the tasks, whose processes are started by Ray unless they are connected already. This
    process is the coordinator: a `coordinator.ClusterCoordinator` schedules functions. Raises ValueError for a cluster
    without these jobs, and UnimplementedError for a `variable_partitioner`.

    >>> cluster = autoconv.train.ClusterSpec({"ps": ["localhost:2222"]})
    >>> resolver = autoconv.distribute.cluster_resolver.SimpleClusterResolver(cluster)
    >>> autoconv.distribute.ParameterServerStrategy(resolver)
    Traceback (most recent call last):
    ...
    ValueError: There must be at least one worker.
    """

    def __init__(self, cluster_resolver: Any, variable_partitioner: Any = None) -> None:
        super().__init__()
        if variable_partitioner is not None:
            raise UnimplementedError("a variable has one parameter server: leave variable_partitioner out")
        self._resolver = cluster_resolver
        spec = ClusterSpec(cluster_resolver.cluster_spec())
        for job in _JOBS:
            if job not in spec.jobs or not spec.num_tasks(job):
                raise ValueError(f"There must be at least one {job}.")
        tasks_by_job = {job: {n: spec.task_address(job, n) for n in spec.task_indices(job)} for job in _JOBS}
        addresses = {(job, number): address for job, tasks in tasks_by_job.items() for number, address in tasks.items()}
        if not all(getattr(TASKS.get(task), "address", None) == address for task, address in addresses.items()):
            experimental_connect_to_cluster(ClusterSpec(tasks_by_job))
        self.workers = spec.task_indices("worker")  # numbers of the tasks of the job `worker`
        self._servers = itertools.cycle([f"/job:ps/task:{number}" for number in spec.task_indices("ps")])

    @property
    def cluster_resolver(self) -> Any:
        return self._resolver

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return tuple(f"/job:ps/replica:0/task:{number}/device:CPU:0" for number in self._task_numbers("ps"))

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return tuple(f"/job:worker/replica:0/task:{number}/device:CPU:0" for number in self.workers)

    def _task_numbers(self, job: str) -> Sequence[int]:
        """Return the numbers of a job's tasks."""
        return ClusterSpec(self._resolver.cluster_spec()).task_indices(job)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        with super().scope(), variable_creator_scope(self._make_variable):
            yield self

    def _make_variable(self, make: Callable[..., Any], **arguments: Any) -> Any:
        """Make a variable on the next parameter server."""
        with device(next(self._servers)):
            return make(**arguments)


_JOBS = ("ps", "worker")
