"""Resolvers: the addresses of the tasks of a cluster, and the task of this process."""

from __future__ import annotations

import json
import os
from typing import Any

from autoconv.train.cluster_spec import ClusterSpec


class ClusterResolver:
    """The tasks of a cluster, and the job and number of this process, as attributes `task_type` and `task_id`.

    >>> issubclass(autoconv.distribute.cluster_resolver.TFConfigClusterResolver,
    ...            autoconv.distribute.cluster_resolver.ClusterResolver)
    True
    """

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None
    environment = ""

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks."""
        raise NotImplementedError

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, by default of this process's; "" if the task's type or number is unknown."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        layer = rpc_layer or self.rpc_layer
        address = self.cluster_spec().task_address(task_type, task_id)
        return f"{layer}://{address}" if layer else address


class SimpleClusterResolver(ClusterResolver):
    """A resolver of a given ClusterSpec; raises TypeError for anything else.

    >>> cluster = autoconv.train.ClusterSpec({"worker": ["localhost:2222"]})
    >>> resolver = autoconv.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=0)
    >>> resolver.master()
    'localhost:2222'
    """

    def __init__(
        self, cluster_spec: ClusterSpec, master: str = "", task_type: str | None = None, task_id: int | None = None,
        environment: str = "", rpc_layer: str | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `autoconv.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec = cluster_spec
        self._master = master
        self.task_type, self.task_id = task_type, task_id
        self.environment, self.rpc_layer = environment, rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        return super().master(task_type, task_id, rpc_layer) or self._master


class TFConfigClusterResolver(ClusterResolver):
    """A resolver of the variable `TF_CONFIG`: JSON with a `cluster` and a `task`. Raises ValueError for other text.

    >>> autoconv.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec().jobs
    []
    """

    def __init__(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:  # fmt: skip
        config_text = os.environ.get("TF_CONFIG", "")
        try:
            config = json.loads(config_text) if config_text else {}
            task: dict[str, Any] = dict(config.get("task", {}))
            self._cluster_spec = ClusterSpec(config.get("cluster", {}))
            task_index = task.get("index") if task_id is None else task_id
            self.task_id = None if task_index is None else int(task_index)
        except (ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"TF_CONFIG is not the JSON of a cluster and a task: {error}") from None
        self.task_type = task.get("type") if task_type is None else task_type
        self.rpc_layer = rpc_layer or config.get("rpc_layer")
        self.environment = environment or config.get("environment", "")

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec


__all__ = ["ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver"]
