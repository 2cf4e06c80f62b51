"""Monitored sessions, which initialise or restore their variables, and call hooks before and after each run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.compat.v1.collections import (
    global_variables_initializer,
    group,
    local_variables_initializer,
    tables_initializer,
)
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.session import Session
from autoconv.compat.v1.summary import merge_all
from autoconv.compat.v1.train.queue_runner import start_queue_runners
from autoconv.compat.v1.train.saver import Saver
from autoconv.compat.v1.train.saver_hooks import CheckpointSaverHook, SummarySaverHook
from autoconv.compat.v1.train.session_hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
)
from autoconv.errors import OutOfRangeError
from autoconv.train.coordinator import Coordinator
from autoconv.train.state import latest_checkpoint

_NOT_GIVEN: Any = object()  # default of an argument for which None has a meaning


class Scaffold:
    """Operations of a graph that a session needs: initialisation, summaries, and the saver.

    `finalize` creates the operations that are not given. `init_fn(scaffold, session)` is called after `init_op`.

    >>> with autoconv.Graph().as_default():
    ...     v = autoconv.Variable(1.0)
    ...     scaffold = autoconv.compat.v1.train.Scaffold().finalize()
    ...     with autoconv.compat.v1.Session() as session:
    ...         session.run(scaffold.init_op)
    ...         session.run(v)
    np.float32(1.0)
    """

    def __init__(
        self, init_op: Any = None, init_feed_dict: Any = None, init_fn: Callable[[Any, Any], Any] | None = None,
        ready_op: Any = None, ready_for_local_init_op: Any = None, local_init_op: Any = None, summary_op: Any = None,
        saver: Any = None, copy_from_scaffold: Any = None, local_init_feed_dict: Any = None,
    ) -> None:  # fmt: skip
        source = copy_from_scaffold
        self.init_op = init_op if source is None or init_op is not None else source.init_op
        self.init_feed_dict = init_feed_dict if source is None else init_feed_dict or source.init_feed_dict
        self.init_fn = init_fn if source is None else init_fn or source.init_fn
        self.ready_op, self.ready_for_local_init_op = ready_op, ready_for_local_init_op
        self.local_init_op, self.local_init_feed_dict = local_init_op, local_init_feed_dict
        self.summary_op, self.saver = summary_op, saver

    def finalize(self) -> Scaffold:
        """Create the missing operations in the default graph, finalize the graph, and return the scaffold."""
        if self.init_op is None:
            self.init_op = global_variables_initializer()
        if self.local_init_op is None:
            self.local_init_op = self.default_local_init_op()
        if self.summary_op is None:
            self.summary_op = merge_all()
        if self.saver is None:
            self.saver = Saver(allow_empty=True)
        get_default_graph().finalize()
        return self

    @staticmethod
    def default_local_init_op() -> Any:
        """Return the operation that initialises local variables and tables."""
        return group(local_variables_initializer(), tables_initializer())


class SessionCreator:
    """Base of classes that create sessions.

    >>> issubclass(autoconv.compat.v1.train.ChiefSessionCreator, autoconv.compat.v1.train.SessionCreator)
    True
    """

    def create_session(self) -> Session:
        raise NotImplementedError("create_session is not implemented for this creator")


class ChiefSessionCreator(SessionCreator):
    """Create sessions whose variables are restored from the latest checkpoint of a folder, or initialised.

    >>> with autoconv.Graph().as_default():
    ...     v = autoconv.Variable(2.0)
    ...     creator = autoconv.compat.v1.train.ChiefSessionCreator()
    ...     with autoconv.compat.v1.train.MonitoredSession(creator) as session:
    ...         session.run(v)
    np.float32(2.0)
    """

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
        checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
    ) -> None:  # fmt: skip
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._folder, self._checkpoint_prefix = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        scaffold = self._scaffold.finalize()
        session = Session(self._master, get_default_graph(), self._config)
        prefix = self._checkpoint_prefix or (latest_checkpoint(self._folder) if self._folder else None)
        if prefix is not None:
            scaffold.saver.restore(session, prefix)
        else:
            session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
            if scaffold.init_fn is not None:
                scaffold.init_fn(scaffold, session)
        session.run(scaffold.local_init_op, feed_dict=scaffold.local_init_feed_dict)
        return session


class MonitoredSession:
    """A session that calls hooks before and after each run; threads of the graph's queue runners fill its queues.

    An OutOfRangeError in the block means the end of the input, and is not propagated. `should_stop()` is true once a
    hook has requested a stop; from then on `run` raises RuntimeError.

    >>> with autoconv.Graph().as_default():
    ...     step = autoconv.compat.v1.train.get_or_create_global_step()
    ...     train = step.assign_add(1)
    ...     hook = autoconv.compat.v1.train.StopAtStepHook(last_step=3)
    ...     with autoconv.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
    ...         while not session.should_stop():
    ...             value = session.run(train)
    >>> int(value)
    3
    """

    def __init__(
        self, session_creator: SessionCreator | None = None, hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:  # fmt: skip
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._coordinator, self._grace_seconds = Coordinator(), stop_grace_period_secs
        self._session: Session | None = (session_creator or ChiefSessionCreator()).create_session()
        self.graph = self._session.graph
        start_queue_runners(self._session, self._coordinator)
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run the fetches, together with those of the hooks; raises RuntimeError once a stop was requested.

        If the run fails since the thread of a queue runner has failed, the error of the thread is raised.
        """
        if self._session is None or self._coordinator.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict, options), self._session)
        run_args_by_hook = {hook: hook.before_run(context) for hook in self._hooks}
        feeds = dict(feed_dict or {})
        for hook, arguments in run_args_by_hook.items():
            for key, value in ((arguments.feed_dict if arguments is not None else None) or {}).items():
                if key in feeds:
                    raise RuntimeError(f"Same tensor is fed by two hooks, or by a hook and the caller: {hook}")
                feeds[key] = value
        hook_fetches = [
            (hook, arguments.fetches)
            for hook, arguments in run_args_by_hook.items() if arguments is not None and arguments.fetches is not None
        ]
        try:
            result, *hook_values = self._session.run([fetches, *(fetch for _, fetch in hook_fetches)], feed_dict=feeds)
        except Exception:
            self._coordinator.raise_requested_exception()
            raise
        value_by_hook = {hook: value for (hook, _), value in zip(hook_fetches, hook_values, strict=True)}
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(value_by_hook.get(hook), options, run_metadata))
        if context.stop_requested:
            self._coordinator.request_stop()
        return result

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call `step_fn(step_context)`: its `session` runs without hooks, its `run_with_hooks` with them."""
        return step_fn(_StepContext(self))

    def should_stop(self) -> bool:
        """Return whether a hook requested a stop, or the session is closed."""
        return self._session is None or self._coordinator.should_stop()

    def raw_session(self) -> Session | None:
        """Return the session without hooks."""
        return self._session

    def close(self) -> None:
        """Call the method `end` of the hooks, and close the session."""
        self._close(has_failed=False)

    def _close(self, has_failed: bool) -> None:
        """Close the session if it is open; call the method `end` of the hooks unless the block has failed.

        The threads of the queue runners are stopped first; raises the error of a thread that has failed.
        """
        session, self._session = self._session, None
        if session is None:
            return
        with contextlib.closing(session):
            try:
                if not has_failed:
                    for hook in self._hooks:
                        hook.end(session)
            finally:
                self._coordinator.request_stop()
                self._coordinator.join(stop_grace_period_secs=self._grace_seconds, ignore_live_threads=True)

    def __enter__(self) -> MonitoredSession:
        return self

    def __exit__(self, error_class: Any, error: Any, traceback: Any) -> bool:
        is_end = error_class is not None and issubclass(error_class, (OutOfRangeError, StopIteration))
        self._close(has_failed=error_class is not None and not is_end)
        return is_end


class _StepContext:
    """The argument of a step function: the session without hooks, a `run` with hooks, and a request to stop."""

    def __init__(self, owner: MonitoredSession) -> None:
        self.session = owner.raw_session()
        self.run_with_hooks = owner.run
        self._owner = owner

    def request_stop(self) -> None:
        raise StopIteration("step_fn has requested the iterations to stop.")


class SingularMonitoredSession(MonitoredSession):
    """A MonitoredSession of a ChiefSessionCreator, whose arguments it takes.

    >>> with autoconv.Graph().as_default():
    ...     v = autoconv.Variable(2.0)
    ...     with autoconv.compat.v1.train.SingularMonitoredSession() as session:
    ...         session.run(v)
    np.float32(2.0)
    """

    def __init__(
        self, hooks: Sequence[SessionRunHook] | None = None, scaffold: Scaffold | None = None, master: str = "",
        config: Any = None, checkpoint_dir: str | None = None, stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:  # fmt: skip
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)


def MonitoredTrainingSession(
    master: str = "", is_chief: bool = True, checkpoint_dir: str | None = None, scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None, chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = _NOT_GIVEN, save_summaries_steps: Any = _NOT_GIVEN,
    save_summaries_secs: Any = _NOT_GIVEN, config: Any = None, stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200, save_checkpoint_steps: Any = _NOT_GIVEN, summary_dir: str | None = None,
    save_graph_def: bool = True,
) -> MonitoredSession:  # fmt: skip
    """Return a MonitoredSession that saves checkpoints and summaries in a folder, and begins with the last checkpoint.

    By default checkpoints are saved every 600 seconds and summaries every 100 steps.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with autoconv.Graph().as_default():
    ...     train = autoconv.compat.v1.train.get_or_create_global_step().assign_add(1)
    ...     with autoconv.compat.v1.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
    ...         session.run([train, train])[0] > 0
    np.True_
    >>> autoconv.train.latest_checkpoint(folder)[-12:]
    'model.ckpt-1'
    """
    save_intervals = _resolve_intervals((save_checkpoint_secs, save_checkpoint_steps), defaults=(600, None))
    summary_seconds, summary_steps = _resolve_intervals(
        (save_summaries_secs, save_summaries_steps), defaults=(None, 100)
    )
    session_scaffold = scaffold or Scaffold()
    all_hooks = list(hooks or ())
    folder = summary_dir or checkpoint_dir
    if folder and log_step_count_steps:
        all_hooks.append(StepCounterHook(log_step_count_steps, output_dir=folder))
    if folder and (summary_steps or summary_seconds):
        all_hooks.append(
            SummarySaverHook(summary_steps or None, summary_seconds or None, folder, scaffold=session_scaffold)
        )
    if checkpoint_dir and any(save_intervals):
        seconds, steps = (interval or None for interval in save_intervals)
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, seconds, steps, scaffold=session_scaffold))
    if is_chief:
        all_hooks += list(chief_only_hooks or ())
    creator = ChiefSessionCreator(session_scaffold, master, config, checkpoint_dir and os.fspath(checkpoint_dir))
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


def _resolve_intervals(arguments: tuple[Any, Any], defaults: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return (seconds, steps): the defaults if neither argument is given; else None for a missing one."""
    if all(value is _NOT_GIVEN for value in arguments):
        return defaults
    seconds, steps = (None if value is _NOT_GIVEN else value for value in arguments)
    return seconds, steps
