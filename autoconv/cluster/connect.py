"""Start the workers of a cluster's tasks, on this machine or on the Ray cluster at `RAY_ADDRESS`."""

from __future__ import annotations

import os
import socket
from typing import Any

from autoconv.cluster.task import RayTask
from autoconv.config.cluster import CONNECT
from autoconv.config.placement import TASKS, add_task
from autoconv.errors import UnavailableError
from autoconv.train.cluster_spec import ClusterSpec

_PATIENCE = 3.0  # seconds for the port of a Ray cluster
_OWN_HOSTS = ("", "localhost", "127.0.0.1", "::1", "0.0.0.0")


def connect(options: Any) -> None:
    """Start a worker for each task of a ClusterSpec, of a resolver or of a dict that is not connected yet."""
    spec = ClusterSpec(options.cluster_spec() if hasattr(options, "cluster_spec") else options)
    places = [(job, task, spec.task_address(job, task)) for job in spec.jobs for task in spec.task_indices(job)]
    if not places:
        return
    _check_addresses(places)
    hosts = {address: address.rpartition(":")[0] or address for _, _, address in places}
    ray = _ray()
    _begin(ray, len(places), {host for host in hosts.values() if not _is_own(host)})
    nodes = {host: _node(ray, host) for host in set(hosts.values())}
    tasks = [RayTask(ray, job, task, address, nodes[hosts[address]]) for job, task, address in places]
    try:
        for one in tasks:
            one.wait_until_ready()
    except BaseException:
        for one in tasks:
            one.end()
        raise
    for (job, number, _), one in zip(places, tasks, strict=True):
        add_task(job, number, one)


CONNECT.set(connect)


def _check_addresses(places: list[tuple[str, int, str]]) -> None:
    seen = {one.address: f"/job:{job}/task:{task}" for (job, task), one in TASKS.items() if isinstance(one, RayTask)}
    for job, task, address in places:
        name = f"/job:{job}/task:{task}"
        if address in seen:
            raise ValueError(f"the address {address!r} of {name} is in use: it is that of {seen[address]}")
        if (job, task) in TASKS:
            raise ValueError(f"{name} is connected already, at another address than {address!r}")
        seen[address] = name


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ImportError("workers need Ray: install autoconv[cluster]") from None
    return ray


def _is_own(host: str) -> bool:
    return host in _OWN_HOSTS or host == socket.gethostname()


def _begin(ray: Any, count: int, others: set[str]) -> None:
    """Connect to the cluster at RAY_ADDRESS, or start one on this machine."""
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS", "")
    if address in ("", "local"):
        if others:
            raise UnavailableError(
                f"no Ray cluster is known that has the host {min(others)!r}: start one there, and set RAY_ADDRESS to "
                "its address"
            )
        ray.init(address="local", num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        return
    _check_port(address)
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")


def _check_port(address: str) -> None:
    """Raise UnavailableError at once where no gRPC server answers, for which Ray would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host, int(port)), _PATIENCE) as link:
            if os.environ.get("RAY_USE_TLS", "0") == "0":
                _greet(link)
    except (OSError, ValueError) as error:
        raise UnavailableError(f"no Ray cluster answers at RAY_ADDRESS={address!r}: {error}") from None


def _greet(link: socket.socket) -> None:
    """Begin a connection of HTTP/2; raises OSError if the answer is not the settings of such a server (RFC 9113)."""
    link.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    answer = link.recv(4)
    if len(answer) < 4 or answer[3] != 4:
        raise ConnectionError("another program listens there")


def _node(ray: Any, host: str) -> dict[str, float]:
    """Return the resources that place a worker on the node of a host; none for this machine's own name."""
    if _is_own(host):
        return {}
    alive = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    try:
        address_of_host = socket.gethostbyname(host)
    except OSError:
        address_of_host = host
    if address_of_host not in alive:
        raise UnavailableError(f"the Ray cluster has no node on the host {host!r}; it has {', '.join(sorted(alive))}")
    return {f"node:{address_of_host}": 0.001}
