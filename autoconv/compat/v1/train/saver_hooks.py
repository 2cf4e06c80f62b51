"""Hooks of monitored sessions that write files: checkpoints and summaries."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from autoconv.compat.v1.train.session_hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    open_writer,
)
from autoconv.compat.v1.train.steps import get_global_step

_LOGGER = logging.getLogger("autoconv.program")


class CheckpointSaverListener:
    """A listener of a CheckpointSaverHook, to be subclassed; each method may be left out.

    >>> class Noting(autoconv.compat.v1.train.CheckpointSaverListener):
    ...     def after_save(self, session, global_step_value):
    ...         print("saved at", global_step_value)
    """

    def begin(self) -> None:
        """Add nodes to the graph; called while it is built."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called after a checkpoint is written; a true result requests a stop."""
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Called after the last checkpoint."""


class CheckpointSaverHook(SessionRunHook):
    """Save the variables every `save_steps` steps or `save_secs` seconds, when the session begins and when it ends.

    Raises ValueError unless one of `save_secs` and `save_steps` is given, RuntimeError in a graph without global step.

    >>> hook = autoconv.compat.v1.train.CheckpointSaverHook("folder", save_steps=100)
    """

    def __init__(
        self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None, saver: Any = None,
        checkpoint_basename: str = "model.ckpt", scaffold: Any = None,
        listeners: Sequence[CheckpointSaverListener] | None = None, save_graph_def: bool = True,
    ) -> None:  # fmt: skip
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold, self._folder = saver, scaffold, checkpoint_dir
        self._prefix = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())

    def begin(self) -> None:
        self._global_step = get_global_step()
        if self._global_step is None:
            raise RuntimeError("Global step should be created to use CheckpointSaverHook.")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = int(session.run(self._global_step))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            step = int(run_context.session.run(self._global_step))
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session: Any) -> None:
        step = int(session.run(self._global_step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Write a checkpoint; return whether a listener requests a stop."""
        _LOGGER.info("Saving checkpoints for %d into %s.", step, self._prefix)
        os.makedirs(self._folder, exist_ok=True)
        for listener in self._listeners:
            listener.before_save(session, step)
        saver = self._saver if self._scaffold is None else self._scaffold.saver
        saver.save(session, self._prefix, global_step=step)
        requests = [listener.after_save(session, step) for listener in self._listeners]
        return any(requests)


class SummarySaverHook(SessionRunHook):
    """Write `summary_op`, or the summary op of the scaffold, every `save_steps` steps or `save_secs` seconds.

    Raises ValueError unless one of `save_steps` and `save_secs` is given.

    >>> hook = autoconv.compat.v1.train.SummarySaverHook(save_steps=10, scaffold=autoconv.compat.v1.train.Scaffold())
    """

    def __init__(
        self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str | None = None,
        summary_writer: Any = None, scaffold: Any = None, summary_op: Any = None,
    ) -> None:  # fmt: skip
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        if (save_steps is None) == (save_secs is None):
            raise ValueError("Exactly one of save_steps and save_secs must be provided.")
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._folder, self._writer = output_dir, summary_writer
        self._scaffold, self._op = scaffold, summary_op

    def begin(self) -> None:
        self._global_step = get_global_step()
        if self._global_step is None:
            raise RuntimeError("Global step should be created to use SummarySaverHook.")
        if self._writer is None and self._folder:
            self._writer = open_writer(self._folder)
        self._next_step: int | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._is_due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        fetches: dict[str, Any] = {"global_step": self._global_step}
        op = self._op if self._op is not None else self._scaffold.summary_op
        if self._is_due and op is not None:
            fetches["summary"] = op
        return SessionRunArgs(fetches)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = int(run_values.results["global_step"])
        if self._is_due:
            self._timer.update_last_triggered_step(step)
            summaries = run_values.results.get("summary")
            if self._writer is not None and summaries is not None:
                for summary in summaries if isinstance(summaries, (list, tuple)) else [summaries]:
                    self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any) -> None:
        if self._writer is not None:
            self._writer.flush()
