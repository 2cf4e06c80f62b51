"""CheckpointManager: keep the latest checkpoints of a folder and delete older ones."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from autoconv.runtime.objects.variable import Variable
from autoconv.train.checkpoint import Checkpoint, CheckpointOptions, delete_checkpoint, delete_unlisted
from autoconv.train.reader import checkpoint_exists
from autoconv.train.restoration import CheckpointLoadStatus
from autoconv.train.state import get_checkpoint_state, update_checkpoint_state


class CheckpointManager:
    """Write numbered checkpoints into a folder, and delete all but the latest `max_to_keep`; None keeps all.

    `keep_checkpoint_every_n_hours` keeps further checkpoints, that many hours apart. With a `step_counter` (a variable)
    and a `checkpoint_interval` in steps, `save` does nothing until that many steps have passed since the last
    checkpoint. Raises ValueError for a `max_to_keep` below 1, and for an interval without a counter.

    >>> import tempfile
    >>> checkpoint = autoconv.train.Checkpoint(v=autoconv.Variable(1.0))
    >>> manager = autoconv.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
    >>> for _ in range(3):
    ...     path = manager.save()
    >>> [name.rsplit("/", 1)[1] for name in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._preservation_hours = keep_checkpoint_every_n_hours
        self._name = checkpoint_name
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._step_of_last_save: int | None = None
        self._time_by_prefix: dict[str, float] = {}
        state = get_checkpoint_state(self._directory)
        self._latest_prefix = None
        self._last_preserved_at = time.time() - (keep_checkpoint_every_n_hours or 0) * 3600
        if state is not None:
            times = state.all_model_checkpoint_timestamps or [time.time()] * len(state.all_model_checkpoint_paths)
            checkpoints = zip(state.all_model_checkpoint_paths, times, strict=False)
            self._time_by_prefix = {path: saved_at for path, saved_at in checkpoints if checkpoint_exists(path)}
            latest_prefix = state.model_checkpoint_path
            self._latest_prefix = latest_prefix if checkpoint_exists(latest_prefix) else None
            self._last_preserved_at = state.last_preserved_timestamp or self._last_preserved_at

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the latest checkpoint, or None before the first."""
        return self._latest_prefix

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that later saves may delete, oldest first."""
        return list(self._time_by_prefix)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Write a checkpoint and delete the oldest; return its prefix, or None if the interval has not passed."""
        step = None if self._step_counter is None else int(self._step_counter.numpy())
        if check_interval and self._interval is not None and self._step_of_last_save is not None:
            assert step is not None
            if step - self._step_of_last_save < self._interval:
                return None
        self._checkpoint.save_counter.assign_add(1)
        number = self._checkpoint.save_counter if checkpoint_number is None else checkpoint_number
        number = int(number.numpy() if hasattr(number, "numpy") else number)
        path = os.path.join(self._directory, f"{self._name}-{number}")
        state_before = self._latest_prefix, dict(self._time_by_prefix), self._last_preserved_at, checkpoint_exists(path)
        try:
            self._checkpoint.write(path, options)
            self._latest_prefix = path
            self._time_by_prefix.pop(path, None)
            self._time_by_prefix[path] = time.time()
            surplus_prefixes = self._remove_surplus()
            self._write_state()  # before files are deleted, so that the state never names a deleted checkpoint
        except BaseException:
            self._latest_prefix, self._time_by_prefix, self._last_preserved_at, existed_before = state_before
            if not existed_before:
                delete_unlisted(path)
            self._checkpoint.save_counter.assign_sub(1)
            raise
        self._step_of_last_save = step
        for old_prefix in surplus_prefixes:
            delete_checkpoint(old_prefix)
        return path

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its prefix; without one, call `init_fn` and return None."""
        if self._latest_prefix is not None:
            self._restore_latest().assert_existing_objects_matched()
            if self._step_counter is not None:
                self._step_of_last_save = int(self._step_counter.numpy())
            return self._latest_prefix
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Do nothing: saving ends before `save` returns."""

    def _restore_latest(self) -> CheckpointLoadStatus:
        return self._checkpoint.restore(self._latest_prefix)

    def _remove_surplus(self) -> list[str]:
        """Remove the oldest checkpoints from the list; return those whose files are to be deleted."""
        surplus_prefixes: list[str] = []
        while self._max_to_keep is not None and len(self._time_by_prefix) > self._max_to_keep:
            path = next(iter(self._time_by_prefix))
            saved_at = self._time_by_prefix.pop(path)
            if self._preservation_hours and saved_at - self._last_preserved_at >= self._preservation_hours * 3600:
                self._last_preserved_at = saved_at
            else:
                surplus_prefixes.append(path)
        return surplus_prefixes

    def _write_state(self) -> None:
        """Write the file with the names and times of the checkpoints."""
        assert self._latest_prefix is not None
        update_checkpoint_state(
            self._directory,
            self._latest_prefix,
            list(self._time_by_prefix),
            all_model_checkpoint_timestamps=list(self._time_by_prefix.values()),
            last_preserved_timestamp=self._last_preserved_at,
        )
