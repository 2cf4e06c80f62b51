"""Start the workers of a cluster's tasks, on this machine or on the Ray cluster at `RAY_ADDRESS`."""

from __future__ import annotations

import os
import socket
from typing import Any

from autoconv.cluster.task import RayTask
from autoconv.config.cluster import CONNECT_TO_CLUSTER
from autoconv.config.placement import TASKS, add_task
from autoconv.errors import UnavailableError
from autoconv.train.cluster_spec import ClusterSpec

_PORT_TIMEOUT = 3.0  # seconds to wait for a connection to a Ray cluster
_LOCAL_HOSTS = ("", "localhost", "127.0.0.1", "::1", "0.0.0.0")


def connect(cluster: Any) -> None:
    """Start a worker for each task of a ClusterSpec, an object with `cluster_spec()`, or a dict of addresses by job."""
    spec = ClusterSpec(cluster.cluster_spec() if hasattr(cluster, "cluster_spec") else cluster)
    task_addresses = [(job, task, spec.task_address(job, task)) for job in spec.jobs for task in spec.task_indices(job)]
    if not task_addresses:
        return
    _check_addresses(task_addresses)
    host_by_address = {address: address.rpartition(":")[0] or address for _, _, address in task_addresses}
    ray = _import_ray()
    _start_ray(ray, len(task_addresses), {host for host in host_by_address.values() if not _is_this_host(host)})
    resources_by_host = {host: _node_resources(ray, host) for host in set(host_by_address.values())}
    tasks = [
        RayTask(ray, job, task, address, resources_by_host[host_by_address[address]])
        for job, task, address in task_addresses
    ]
    try:
        for ray_task in tasks:
            ray_task.wait_until_ready()
    except BaseException:
        for ray_task in tasks:
            ray_task.end()
        raise
    for (job, task, _), ray_task in zip(task_addresses, tasks, strict=True):
        add_task(job, task, ray_task)


CONNECT_TO_CLUSTER.set(connect)


def _check_addresses(task_addresses: list[tuple[str, int, str]]) -> None:
    """Raise ValueError for an address or a task, as (job, task, address), that is in use."""
    names_by_address = {
        connected_task.address: f"/job:{job}/task:{task}"
        for (job, task), connected_task in TASKS.items()
        if isinstance(connected_task, RayTask)
    }
    for job, task, address in task_addresses:
        name = f"/job:{job}/task:{task}"
        if address in names_by_address:
            raise ValueError(f"the address {address!r} of {name} is in use: it is that of {names_by_address[address]}")
        if (job, task) in TASKS:
            raise ValueError(f"{name} is connected already, at another address than {address!r}")
        names_by_address[address] = name


def _import_ray() -> Any:
    """Return the module `ray`; raise ImportError, which says how to install it."""
    try:
        import ray
    except ImportError:
        raise ImportError("workers need Ray: install autoconv[cluster]") from None
    return ray


def _is_this_host(host: str) -> bool:
    """Return whether a host is this machine."""
    return host in _LOCAL_HOSTS or host == socket.gethostname()


def _start_ray(ray: Any, worker_count: int, other_hosts: set[str]) -> None:
    """Connect to the cluster at RAY_ADDRESS, or start one on this machine."""
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS", "")
    if address in ("", "local"):
        if other_hosts:
            raise UnavailableError(
                f"no Ray cluster is known that has the host {min(other_hosts)!r}: start one there, and set "
                "RAY_ADDRESS to its address"
            )
        ray.init(
            address="local", num_cpus=worker_count, include_dashboard=False, log_to_driver=False, logging_level="ERROR"
        )
        return
    _check_port(address)
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")


def _check_port(address: str) -> None:
    """Raise UnavailableError at once if no gRPC server answers at the address; Ray would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host, int(port)), _PORT_TIMEOUT) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0":
                _check_http2(connection)
    except (OSError, ValueError) as error:
        raise UnavailableError(f"no Ray cluster answers at RAY_ADDRESS={address!r}: {error}") from None


def _check_http2(connection: socket.socket) -> None:
    """Begin a connection of HTTP/2; raises OSError if the answer is not the settings of such a server (RFC 9113)."""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))  # empty settings
    answer = connection.recv(4)
    if len(answer) < 4 or answer[3] != 4:  # 4 is the type of a frame of settings
        raise ConnectionError("another program listens there")


def _node_resources(ray: Any, host: str) -> dict[str, float]:
    """Return Ray's resources that place a worker on the node of a host; none are needed for this machine."""
    if _is_this_host(host):
        return {}
    alive_addresses = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    try:
        address_of_host = socket.gethostbyname(host)
    except OSError:
        address_of_host = host
    if address_of_host not in alive_addresses:
        addresses = ", ".join(sorted(alive_addresses))
        raise UnavailableError(f"the Ray cluster has no node on the host {host!r}; it has {addresses}")
    return {f"node:{address_of_host}": 0.001}  # any small amount of the node's own resource
