"""The file `checkpoint` of a folder: the list of its checkpoints, and the latest one.

Its format is TensorFlow's. A comment, which TensorFlow ignores, has the checksum of the lines before it.
"""

from __future__ import annotations

import ast
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence

from autoconv.errors import DataLossError
from autoconv.lazy_dataclass import dataclass, field
from autoconv.storage.files import replacing
from autoconv.train.reader import CheckpointReader, checkpoint_exists, open_checkpoint

_CHECKSUM_PREFIX = "# checksum: "
# A line of the file: a name, and a value, which may be quoted.
_LINE = re.compile(r'^(\w+): (?:("(?:[^"\\]|\\.)*")|(\S+))$')


@dataclass
class CheckpointState:
    """The latest checkpoint of a folder, and all of them, oldest first; times are in seconds since 1970.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> autoconv.train.get_checkpoint_state(folder).model_checkpoint_path == path
    True
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0


def update_checkpoint_state(
    save_dir: str | os.PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the latest checkpoint of a folder and the list of all checkpoints.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> autoconv.train.update_checkpoint_state(folder, folder + "/other-1", [path])
    >>> len(autoconv.train.get_checkpoint_state(folder).all_model_checkpoint_paths)
    2
    """
    folder = os.fspath(save_dir)
    paths = list(all_model_checkpoint_paths or ())
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [time.time()] * len(paths))
    lines = [f"model_checkpoint_path: {_quote(_relative(model_checkpoint_path, folder))}"]
    lines += [f"all_model_checkpoint_paths: {_quote(_relative(path, folder))}" for path in paths]
    lines += [f"all_model_checkpoint_timestamps: {time_!r}" for time_ in times]
    if last_preserved_timestamp is not None:
        lines.append(f"last_preserved_timestamp: {last_preserved_timestamp!r}")
    path = os.path.join(folder, latest_filename or "checkpoint")
    with replacing(path) as temporary_path, open(temporary_path, "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in [*lines, _checksum_line(lines)]))


def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> CheckpointState | None:
    """Return the state of a folder, or None where it has none; raises DataLossError for a damaged file.

    >>> import tempfile
    >>> autoconv.train.get_checkpoint_state(tempfile.mkdtemp()) is None
    True
    """
    folder = os.fspath(checkpoint_dir)
    path = os.path.join(folder, latest_filename or "checkpoint")
    if not os.path.isfile(path):
        return None
    values = _read_values(path)
    latest = values.get("model_checkpoint_path")
    if not latest:
        raise DataLossError(f"{path} names no checkpoint.")
    try:
        times = [float(time_) for time_ in values.get("all_model_checkpoint_timestamps", [])]
        preserved_time = float(values.get("last_preserved_timestamp", ["0"])[-1])
    except ValueError as error:
        raise DataLossError(f"{path} is damaged: {error}") from None
    return CheckpointState(
        os.path.join(folder, latest[-1]),
        [os.path.join(folder, name) for name in values.get("all_model_checkpoint_paths", [])],
        times,
        preserved_time,
    )


def _read_values(path: str) -> dict[str, list[str]]:
    """Return the values of each name in a state's file; raises DataLossError for damage."""
    values: dict[str, list[str]] = {}
    lines: list[str] = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file.read().splitlines():
            if line.startswith(_CHECKSUM_PREFIX) and line != _checksum_line(lines):
                raise DataLossError(f"{path} is damaged: its checksum differs from its content.")
            lines.append(line)
            if line.startswith("#"):
                continue
            match = _LINE.match(line.strip())
            if match is None:
                raise DataLossError(f"{path} is no state of checkpoints: {line[:80]!r}")
            values.setdefault(match[1], []).append(_unquote(match[2], path) if match[2] else match[3])
    return values


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """Return the prefix of the latest checkpoint of a folder, or None where there is none.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> autoconv.train.latest_checkpoint(folder) == path
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    prefix = None if state is None else state.model_checkpoint_path
    return prefix if prefix is not None and checkpoint_exists(prefix) else None


def checkpoints_iterator(
    checkpoint_dir: str | os.PathLike[str], min_interval_secs: float = 0, timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:  # fmt: skip
    """Yield the prefix of the latest checkpoint of a folder, then of each later one that another process writes.

    The iterator waits `timeout` seconds for a checkpoint (forever by default), then ends, unless `timeout_fn` is given
    and returns False. At least `min_interval_secs` pass from one checkpoint to the next.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> list(autoconv.train.checkpoints_iterator(folder, timeout=0)) == [path]
    True
    """
    last_path: str | None = None
    while True:
        start = time.monotonic()
        while (latest := latest_checkpoint(checkpoint_dir)) == last_path:
            seconds_waited = time.monotonic() - start
            if timeout is not None and seconds_waited >= timeout:
                break
            time.sleep(1.0 if timeout is None else min(1.0, timeout - seconds_waited))
        if latest == last_path:
            if timeout_fn is None or timeout_fn():
                return
            continue
        last_path, start = latest, time.monotonic()
        assert latest is not None
        yield latest
        time.sleep(max(0.0, start + min_interval_secs - time.monotonic()))


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """Return the reader of a checkpoint, given its prefix, or the folder whose latest checkpoint is meant.

    Raises ValueError for a folder without checkpoints.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> autoconv.train.load_checkpoint(folder).has_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    True
    """
    prefix = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(prefix):
        latest = latest_checkpoint(prefix)
        if latest is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {prefix}")
        prefix = latest
    return open_checkpoint(prefix)


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """Return the keys and shapes of all values of a checkpoint, in the order of the keys.

    One value is the graph of the objects, a serialized TrackableObjectGraph.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> autoconv.train.list_variables(path)[1:]
    [('save_counter/.ATTRIBUTES/VARIABLE_VALUE', []), ('v/.ATTRIBUTES/VARIABLE_VALUE', [2])]
    """
    return list(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> object:
    """Return the value of a checkpoint under a key; `:0` at its end is ignored.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> autoconv.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def _checksum_line(lines: Sequence[str]) -> str:
    """Return the comment with the checksum of the lines before it."""
    return f"{_CHECKSUM_PREFIX}{zlib.crc32(chr(10).join(lines).encode()):08x}"


def _relative(path: str, folder: str) -> str:
    """Return a path relative to its folder if it is within, else absolute."""
    relative_path = os.path.relpath(path, folder or ".")
    return os.path.abspath(path) if relative_path.startswith("..") else relative_path


def _quote(text: str) -> str:
    """Return a text as a quoted value of the file."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _unquote(text: str, path: str) -> str:
    """Return the text of a quoted value of the file at `path`; raises DataLossError for damage."""
    try:
        return str(ast.literal_eval(text))
    except (SyntaxError, ValueError):
        raise DataLossError(f"{path} is damaged: {text[:80]}") from None
