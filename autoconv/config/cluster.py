"""Connection to the tasks of a cluster; the first call imports the package `autoconv.cluster`, which connects."""

from __future__ import annotations

from autoconv.config.refused_options import refuse_options
from autoconv.hooks import Hook

CONNECT_TO_CLUSTER = Hook("autoconv.cluster.connect")


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: object,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: object = None,
) -> None:
    """Start a worker process for each task of a ClusterSpec, by Ray: `device("/job:worker/task:1")` places work there.

    Workers run on the Ray cluster at the address in `RAY_ADDRESS`, each on the node of its task's host. Without that
    variable they run on this machine, which then has to be the host of every task. Raises ImportError without Ray,
    which is in the extra `cluster`; UnavailableError where no cluster answers or no node has a host; ValueError for an
    address given twice.

    >>> autoconv.config.experimental_connect_to_cluster(autoconv.train.ClusterSpec({}))
    """
    refuse_options(
        "experimental_connect_to_cluster", job_name=job_name.removeprefix("localhost"), task_index=task_index or None
    )
    CONNECT_TO_CLUSTER(cluster_spec_or_resolver)


def experimental_connect_to_host(remote_host: str | list[str], job_name: str = "worker") -> None:
    """Start a worker process for each address: the tasks of one job. See `experimental_connect_to_cluster`.

    >>> autoconv.config.experimental_connect_to_host([])
    """
    hosts = [remote_host] if isinstance(remote_host, str) else list(remote_host)
    CONNECT_TO_CLUSTER({job_name: hosts} if hosts else {})
