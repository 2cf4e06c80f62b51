"""Hooks of monitored sessions, whose methods are called before and after each call of `run`."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.train.steps import get_global_step

_LOGGER = logging.getLogger("autoconv.program")


class SessionRunArgs(NamedTuple):
    """The fetches and fed values that a hook adds to a call of `run`.

    >>> autoconv.compat.v1.train.SessionRunArgs("loss:0").feed_dict is None
    True
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """The results of `run` for the fetches of a hook.

    >>> autoconv.compat.v1.train.SessionRunValues(1.5).results
    1.5
    """

    results: Any
    options: Any = None
    run_metadata: Any = None


class SessionRunContext:
    """Description of a call of `run` for hooks: its arguments and session; hooks may request that the loop stops.

    >>> context = autoconv.compat.v1.train.SessionRunContext(autoconv.compat.v1.train.SessionRunArgs(None), None)
    >>> context.request_stop()
    >>> context.stop_requested
    True
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self.original_args, self.session = original_args, session
        self.stop_requested = False

    def request_stop(self) -> None:
        self.stop_requested = True


class SessionRunHook:
    """A hook of monitored sessions, to be subclassed; each method may be left out.

    >>> class Counting(autoconv.compat.v1.train.SessionRunHook):
    ...     runs = 0
    ...     def after_run(self, run_context, run_values):
    ...         self.runs += 1
    >>> hook = Counting()
    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.constant(2) * 3
    ...     with autoconv.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
    ...         session.run(x), hook.runs
    (np.int32(6), 1)
    """

    def begin(self) -> None:
        """Add nodes to the graph; later methods of the hook must not add any."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Use the session, in which all variables are initialised or restored."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Return further fetches and fed values of this call of `run`, None for nothing."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Use the results of the hook's fetches; may request a stop."""

    def end(self, session: Any) -> None:
        """Use the session at the end; not called if an error has ended the loop."""


class NanLossDuringTrainingError(RuntimeError):
    """A loss is not a number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class SecondOrStepTimer:
    """A timer that triggers at the first step and then every `every_secs` seconds or `every_steps` steps.

    Raises ValueError unless one of them is given.

    >>> timer = autoconv.compat.v1.train.SecondOrStepTimer(every_steps=2)
    >>> due = []
    >>> for step in range(5):
    ...     if timer.should_trigger_for_step(step):
    ...         due.append(timer.update_last_triggered_step(step)[1])
    >>> due
    [None, 2, 2]
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can only provide one of every_secs and every_steps.")
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        self._seconds, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        self._last_step: int | None = None
        self._last_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Return whether a trigger is due at the step."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._seconds is not None:
            return time.monotonic() >= self._last_time + self._seconds
        return self._steps is not None and step >= self._last_step + self._steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Record a trigger at the step; return the seconds and steps since the previous trigger, or two None."""
        now, last = time.monotonic(), self._last_step
        elapsed = (None, None) if last is None else (now - self._last_time, step - last)
        self._last_step, self._last_time = step, now
        return elapsed

    def last_triggered_step(self) -> int | None:
        return self._last_step


class _StepHook(SessionRunHook):
    """A hook that reads the global step in each run; raises RuntimeError in a graph that has none."""

    def begin(self) -> None:
        self._global_step = get_global_step()
        if self._global_step is None:
            raise RuntimeError(f"Global step should be created to use {type(self).__name__}.")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)


class StopAtStepHook(_StepHook):
    """Stop after `num_steps` steps, or at the step `last_step`; raises ValueError unless one of them is given.

    >>> with autoconv.Graph().as_default():
    ...     step = autoconv.compat.v1.train.get_or_create_global_step().assign_add(1)
    ...     hook = autoconv.compat.v1.train.StopAtStepHook(num_steps=2)
    ...     with autoconv.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
    ...         while not session.should_stop():
    ...             value = session.run(step)
    >>> int(value)
    2
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._step_count, self._last_step = num_steps, last_step

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            self._last_step = int(session.run(self._global_step)) + int(self._step_count or 0)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._last_step is None or int(run_values.results) + 1 < self._last_step:
            return
        step = int(run_context.session.run(self._global_step))  # the run may have read it before it was incremented
        if step >= self._last_step:
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Log tensors, a dict by tags or a list.

    They are logged every `every_n_iter` calls of `run` or every `every_n_secs` seconds, and at the end with `at_end`.
    Raises ValueError unless one of the three is given, and for both intervals.

    >>> hook = autoconv.compat.v1.train.LoggingTensorHook({"loss": "loss:0"}, every_n_iter=10)
    """

    def __init__(
        self, tensors: Mapping[str, Any] | Iterable[Any], every_n_iter: int | None = None,
        every_n_secs: float | None = None, at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
    ) -> None:  # fmt: skip
        has_one_interval = (every_n_iter is None) != (every_n_secs is None)
        if not has_one_interval and not (at_end and every_n_iter is None):
            raise ValueError("Either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        tensors_by_tag = tensors if isinstance(tensors, Mapping) else {_name_of(tensor): tensor for tensor in tensors}
        self._tensors, self._formatter, self._at_end = dict(tensors_by_tag), formatter, at_end
        is_only_at_end = every_n_iter is None and every_n_secs is None
        self._timer = None if is_only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._call_count = 0

    def begin(self) -> None:
        self._call_count = 0
        if self._timer is not None:
            self._timer.reset()
        graph = get_default_graph()
        self._graph_tensors = {tag: graph.as_graph_element(value) for tag, value in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._is_due = self._timer is not None and self._timer.should_trigger_for_step(self._call_count)
        return SessionRunArgs(self._graph_tensors) if self._is_due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._is_due:
            self._log(run_values.results)
        self._call_count += 1

    def end(self, session: Any) -> None:
        if self._at_end:
            self._log(session.run(self._graph_tensors))

    def _log(self, values: dict[str, Any]) -> None:
        """Log the values by tag, with the seconds since the last time they were logged."""
        seconds = None
        if self._timer is not None:
            seconds, _ = self._timer.update_last_triggered_step(self._call_count)
        if self._formatter is not None:
            _LOGGER.info(self._formatter(values))
            return
        text = ", ".join(f"{tag} = {values[tag]}" for tag in self._tensors)
        _LOGGER.info(text if seconds is None else f"{text} ({seconds:.3f} sec)")


class NanTensorHook(SessionRunHook):
    """Stop when a loss is not a number, by NanLossDuringTrainingError unless `fail_on_nan_loss` is False.

    >>> with autoconv.Graph().as_default():
    ...     loss = autoconv.constant(float("nan"))
    ...     hook = autoconv.compat.v1.train.NanTensorHook(loss, fail_on_nan_loss=False)
    ...     with autoconv.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
    ...         session.run(loss), session.should_stop()
    (np.float32(nan), True)
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._raises_error = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if np.isnan(run_values.results).any():
            if self._raises_error:
                raise NanLossDuringTrainingError
            _LOGGER.warning("Model diverged with loss = NaN.")
            run_context.request_stop()


class FeedFnHook(SessionRunHook):
    """Feed the dict that `feed_fn()` returns in each call of `run`.

    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, ())
    ...     y = x + 1.0
    ...     hook = autoconv.compat.v1.train.FeedFnHook(lambda: {x: 2.0})
    ...     with autoconv.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
    ...         session.run(y)
    np.float32(3.0)
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(None, self.feed_fn())


class FinalOpsHook(SessionRunHook):
    """Run `final_ops` at the end; `final_ops_values` are their results.

    >>> with autoconv.Graph().as_default():
    ...     hook = autoconv.compat.v1.train.FinalOpsHook(autoconv.constant(7))
    ...     with autoconv.compat.v1.train.MonitoredSession(hooks=[hook]):
    ...         pass
    >>> hook.final_ops_values
    np.int32(7)
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._ops, self._feeds = final_ops, final_ops_feed_dict
        self.final_ops_values: Any = None

    def end(self, session: Any) -> None:
        self.final_ops_values = session.run(self._ops, feed_dict=self._feeds)


class StepCounterHook(_StepHook):
    """Log the number of steps per second and write it as a summary, every `every_n_steps` steps or `every_n_secs` s.

    >>> hook = autoconv.compat.v1.train.StepCounterHook(every_n_steps=10)
    """

    def __init__(
        self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:  # fmt: skip
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._folder, self._writer = output_dir, summary_writer

    def begin(self) -> None:
        super().begin()
        if self._writer is None and self._folder:
            self._writer = open_writer(self._folder)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = int(run_values.results)
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds and steps:
                self._report(steps / seconds, step)

    def _report(self, rate: float, step: int) -> None:
        """Log `rate`, the number of steps per second, and write it as a summary."""
        _LOGGER.info("global_step/sec: %g", rate)
        if self._writer is not None:
            from autoconv.summary.protos import messages

            summary = messages("summary").Summary()
            summary.value.add(tag="global_step/sec", simple_value=rate)
            self._writer.add_summary(summary, step)


def open_writer(folder: str) -> Any:
    """Return a writer of summaries in the folder."""
    from autoconv.compat.v1.summary import FileWriter

    os.makedirs(folder, exist_ok=True)
    return FileWriter(folder)


def _name_of(tensor: Any) -> str:
    """Return the name of a tensor; a name is returned unchanged."""
    return tensor if isinstance(tensor, str) else tensor.name
