"""The tasks of a cluster: processes with an address each, grouped in jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Tasks = Mapping[str, Sequence[str] | Mapping[int, str]]  # addresses of tasks, by the names of jobs


class ClusterSpec:
    """The addresses of a cluster's tasks, by the names of jobs: lists, or dicts by the numbers of tasks.

    Raises TypeError for anything else.

    >>> cluster = autoconv.train.ClusterSpec({"worker": ["localhost:2222", "localhost:2223"], "ps": {1: "other:2224"}})
    >>> cluster.jobs, cluster.num_tasks("worker"), cluster.task_indices("ps"), cluster.task_address("worker", 1)
    (['worker', 'ps'], 2, [1], 'localhost:2223')
    """

    def __init__(self, cluster: Tasks | ClusterSpec) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if not isinstance(cluster, Mapping):
            text = "`cluster` must be a dictionary mapping one or more job names to lists of network addresses"
            raise TypeError(text)
        self._jobs = {name: _tasks_by_number(name, tasks) for name, tasks in cluster.items()}

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """Return the number of tasks of a job; raises ValueError for an unknown job."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Return the numbers of a job's tasks; raises ValueError for an unknown job."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Return the address of a task; raises ValueError for an unknown job or number."""
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Return the addresses of a job's tasks by their numbers, None for missing numbers."""
        tasks = self._tasks(job_name)
        return [tasks.get(number) for number in range(max(tasks, default=-1) + 1)]

    def as_dict(self) -> dict[str, Any]:
        """Return the jobs: a list of addresses where no number is missing, else a dict."""
        result: dict[str, Any] = {}
        for name, tasks in self._jobs.items():
            is_complete = sorted(tasks) == list(range(len(tasks)))
            result[name] = [tasks[number] for number in sorted(tasks)] if is_complete else dict(tasks)
        return result

    def _tasks(self, job_name: str) -> dict[int, str]:
        """Return the addresses of a job's tasks by number; raises ValueError for an unknown job."""
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()!r})"


def _tasks_by_number(name: str, tasks: object) -> dict[int, str]:
    """Return the addresses of a job's tasks by number; raises TypeError for other values."""
    error = TypeError(f"The tasks for job {name!r} must be a list or a dictionary from integers to strings.")
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, Mapping):
        raise error
    if not all(isinstance(number, int) and isinstance(address, str) for number, address in tasks.items()):
        raise error
    return dict(tasks)
