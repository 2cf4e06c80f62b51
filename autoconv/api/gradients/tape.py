"""GradientTape: gradients of the computation inside a `with` block."""

from __future__ import annotations

import enum
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autoconv.api.gradients.composite_sources import DifferentiableTensors
from autoconv.api.gradients.dense_gradients import dense, shape_of, stack_element_gradients, zeros_of_source
from autoconv.api.gradients.recorded import RecordedInterval, find_source_value
from autoconv.api.gradients.row_slices import row_slices
from autoconv.graph.graph import Value
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.eager_gradients import eager_gradients
from autoconv.runtime.objects.variable import Variable, represented_value
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.recording.symbolic_gradients import connected_values, symbolic_gradients
from autoconv.runtime.recording.tracebacks import wrap_public_methods
from autoconv.runtime.support.structure import flatten, pack
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import ArrayTensor, Tensor

_LOG = logging.getLogger("autoconv")
_USED_UP_MESSAGE = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians). Ask for all of "
    "them at once, with a list of sources, or make the tape with persistent=True. A tape has to be entered first."
)


class UnconnectedGradients(enum.Enum):
    """The gradient of a target that does not depend on the source.

    >>> x = autoconv.constant(3.0)
    >>> with autoconv.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = autoconv.constant(1.0)
    >>> tape.gradient(y, x, unconnected_gradients=autoconv.UnconnectedGradients.ZERO).numpy()
    np.float32(0.0)
    """

    NONE = "none"
    ZERO = "zero"


@wrap_public_methods
class GradientTape:
    """Record the computation inside its `with` block, to compute gradients of it.

    Trainable variables that are read are watched, unless `watch_accessed_variables` is False; tensors are watched with
    `watch`. A tape computes one set of gradients, unless it is `persistent`. Gradients computed inside the block of
    another tape are recorded by that tape, and can be differentiated again.

    While a function is traced, gradients become part of its graph, and a call of an outer function is differentiated
    as one op. With `recompute_every=n`, loops of a traced function keep their state only at every n-th iteration. The
    reverse pass computes the iterations in between again: less memory for more time.

    >>> x = autoconv.constant(3.0)
    >>> with autoconv.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x).numpy()
    np.float32(6.0)
    """

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True, *, recompute_every: int | None = None
    ) -> None:
        self._persistent = persistent
        self._recompute_every = _check_recompute_every(recompute_every)
        self._watches_variables = watch_accessed_variables
        self._is_used = self._was_entered = False
        self._is_recording = False
        self._discard_records()

    def _discard_records(self) -> None:
        """Begin with an empty recorder, and without watched sources."""
        gradient_orders = 2 if self._persistent else 1  # a persistent tape may record how its gradients are computed
        self._recorder = tape_recorders.Recorder(gradient_orders, self._watches_variables, self._recompute_every)
        self._interval = RecordedInterval()
        self._watched_sources: list[Any] = []

    def __enter__(self) -> GradientTape:
        if self._is_recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_recording:
            self._stop()

    def _start(self) -> None:
        """Begin recording, in the graph being traced if there is one."""
        self._is_recording = self._was_entered = True
        self._interval.open(current_region())
        tape_recorders.start(self._recorder)

    def _stop(self) -> None:
        """End recording; what was recorded remains."""
        self._is_recording = False
        self._interval.close(current_region())
        tape_recorders.stop(self._recorder)

    def watch(self, tensor: TensorLike) -> None:
        """Watch a tensor or variable, or those in a structure.

        Raises ValueError for anything else. A tensor that is not floating or complex is not watched, with a warning.
        """
        for value in map(represented_value, DifferentiableTensors(tensor).tensors):
            if not isinstance(value, (Tensor, Variable)):
                raise _tensor_type_error(value)
            if not value.dtype.is_differentiable:
                _warn("watched", value, context="")
            elif isinstance(value, Variable):
                self._recorder.watch_variable(value)
            else:
                self._watched_sources.append(value)
                self._recorder.watch(value)

    def watch_array(self, array: np.ndarray) -> Tensor:
        """Return a watched tensor that represents an array argument of a function under `compile`."""
        tensor = ArrayTensor(np.array(array))
        self._recorder.substitute(array, tensor)
        self.watch(tensor)
        return tensor

    def may_lack_terms(self, gradients: Sequence[Any]) -> bool:
        """Return whether gradients may lack terms.

        One reason is that a watched value was converted to a Python number or array. Another reason is that a watched
        array was used in another way than by recorded ops; this is only considered if one of the gradients is None.
        """
        is_unconnected = any(gradient is None for gradient in gradients)
        return self._recorder.exports_values or (is_unconnected and self._recorder.has_lost_values)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the watched variables, in the order of their first use."""
        return tuple(self._recorder.variables.values())

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Suspend recording inside the block. Raises ValueError when the tape is not recording."""
        if not self._is_recording:
            raise ValueError("Tape is not recording: stop_recording() has to be called inside its `with` block")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Discard everything recorded and watched."""
        was_recording = self._is_recording
        if was_recording:
            self._stop()
        self._discard_records()
        self._is_used = False
        if was_recording:
            self._start()

    def gradient(
        self, target: TensorLike, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:  # fmt: skip
        """Return the gradients of `target` with respect to `sources`, in the structure of the sources.

        The gradient is that of the sum of all elements of the target, or of a structure of targets, weighted by
        `output_gradients`. An unconnected source has the gradient None, or zeros with `unconnected_gradients="zero"`.
        A source that only `gather` along the first dimension reads has an IndexedSlices as its gradient. Raises
        RuntimeError when the tape is used up or was never entered, ValueError for anything that is not a tensor.
        """
        fills_zeros = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        self._mark_used()
        targets = _tensor_leaves(target, "target")
        source_tensors = DifferentiableTensors(sources)
        cotangents: list[Any] = [None] * len(targets)
        if output_gradients is not None:
            _, target_template = flatten(target)
            are_nested = target_template is not None
            cotangents = DifferentiableTensors(output_gradients).tensors if are_nested else [output_gradients]
        if len(cotangents) != len(targets):
            raise ValueError(f"there are {len(targets)} targets and {len(cotangents)} output_gradients")
        gradients = self._gradients(targets, cotangents, _tensor_leaves(sources, "source"))
        self._release()
        if fills_zeros:
            pairs = zip(source_tensors.tensors, gradients, strict=True)
            gradients = [zeros_of_source(source) if gradient is None else gradient for source, gradient in pairs]
        return source_tensors.pack_gradients(gradients)

    def jacobian(
        self, target: TensorLike, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Return the derivatives of each element of `target` with respect to each of `sources`.

        The derivatives are tensors of the target's shape followed by the source's shape, None (or zeros) for an
        unconnected source. Raises the errors of `gradient`. `parallel_iterations` and `experimental_use_pfor` have no
        effect.
        """
        fills_zeros = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        self._mark_used()
        (target_leaf,) = _tensor_leaves(target, "target")
        _, template = flatten(sources)
        source_leaves = _tensor_leaves(sources, "source")
        target_tensor = convert_to_tensor(target_leaf) if isinstance(target_leaf, Variable) else target_leaf
        element_gradients = stack_element_gradients(
            target_tensor, lambda seed: self._gradients([target_leaf], [seed], source_leaves)
        )
        self._release()
        leaf_jacobians = []
        for source_leaf, leaf_jacobian in zip(source_leaves, element_gradients, strict=True):
            shape = apply(
                "concat", apply("shape", target_tensor), apply("shape", convert_to_tensor(source_leaf)), axis=0
            )
            if leaf_jacobian is None and fills_zeros:
                zero = convert_to_tensor(0, source_leaf.dtype)
                leaf_jacobian = apply("fill", zero, shape, shape=(*shape_of(target_tensor), *shape_of(source_leaf)))
            elif leaf_jacobian is not None:
                leaf_jacobian = _reshape(leaf_jacobian, (*shape_of(target_tensor), *shape_of(source_leaf)), shape)
            leaf_jacobians.append(leaf_jacobian)
        return pack(template, leaf_jacobians)

    def batch_jacobian(
        self, target: TensorLike, source: TensorLike, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Return the jacobian of each row of `target` with respect to the row of `source` at the same index.

        A target of shape [b, ...t] and a source of shape [b, ...s] give [b, ...t, ...s]; a row of the target must
        depend only on its own row of the source. Raises ValueError when the first dimensions differ, and for ranks
        below 2. `parallel_iterations` and `experimental_use_pfor` have no effect.
        """
        fills_zeros = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        self._mark_used()
        (target_leaf,), (source_leaf,) = _tensor_leaves(target, "target"), _tensor_leaves(source, "source")
        shape, source_shape = shape_of(target_leaf), shape_of(source_leaf)
        row_counts = {*shape[:1], *source_shape[:1]} - {None}
        if min(len(shape), len(source_shape)) < 2 or len(row_counts) > 1:
            raise ValueError(
                f"Need first dimension of target shape ({list(shape)}) and source shape ({list(source_shape)}) to "
                "match, and two dimensions or more of both."
            )
        if None in (*shape[1:], *source_shape[1:]):
            raise ValueError(
                f"batch_jacobian needs known sizes but for the first, found {list(shape)} and {list(source_shape)}"
            )
        elements_per_row = int(np.prod(shape[1:], dtype=np.int64))
        gradients = []  # of each element of a row of the target, for all rows at once
        for element in range(elements_per_row):
            one_hot = np.zeros(elements_per_row)
            one_hot[element] = 1.0
            ones = apply("ones_like", convert_to_tensor(target_leaf))
            seed_row = convert_to_tensor(one_hot.reshape(shape[1:]).astype(target_leaf.dtype.numpy))
            seed = apply("multiply", ones, seed_row)
            gradients.append(self._gradients([target_leaf], [seed], [source_leaf])[0])
        self._release()
        if gradients and gradients[0] is None:
            if not fills_zeros:
                return None
            gradients = [apply("zeros_like", convert_to_tensor(source))] * elements_per_row
        stacked_gradients = apply("stack", *map(dense, gradients), axis=1)
        row_count = apply("shape", convert_to_tensor(source))[:1]
        row_sizes = convert_to_tensor(np.array([*shape[1:], *source_shape[1:]], np.int32))
        return _reshape(
            stacked_gradients, (source_shape[0], *shape[1:], *source_shape[1:]),
            apply("concat", row_count, row_sizes, axis=0),
        )  # fmt: skip

    def _mark_used(self) -> None:
        """End recording unless the tape is persistent. Raises RuntimeError if it is used up, or was never entered."""
        if not self._was_entered or (self._is_used and not self._persistent):
            raise RuntimeError(_USED_UP_MESSAGE)
        self._is_used = True
        if self._is_recording and not self._persistent:
            self._stop()

    def _release(self) -> None:
        """Free the records of a tape that is used up."""
        if not self._persistent:
            self._recorder.forget()

    def _gradients(self, targets: Sequence[Any], cotangents: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
        """Return the gradients of the sources, None for unconnected ones; `cotangents` are those of the targets."""
        region = current_region()
        if region is not None:
            return self._symbolic_gradients(region, targets, cotangents, sources)
        seeds = [_seed(target, cotangent) for target, cotangent in zip(targets, cotangents, strict=True)]
        pairs = zip(targets, seeds, strict=True)
        target_values = [_recorded_value(target) for target, seed in pairs if seed is not None]
        known_seeds = [seed for seed in seeds if seed is not None]
        source_values = [_recorded_value(source) for source in sources]
        return eager_gradients(self._recorder, target_values, known_seeds, source_values)

    def _symbolic_gradients(
        self, region: Region, targets: Sequence[Any], cotangents: Sequence[Any], sources: Sequence[Any]
    ) -> Any:
        """Return the gradients of the sources as `_gradients`, computed in the graph that is being traced."""
        watched_sources = (*self._watched_sources, *self._recorder.variables.values())
        values = [find_source_value(region, source) for source in watched_sources]
        watched_values = [value for value in values if value is not None]
        source_values = [find_source_value(region, source) for source in sources]
        connected_set = connected_values(region, watched_values, self._interval.nodes_in)
        connected_or_none = [value if value in connected_set else None for value in source_values]
        target_values, seeds = [], []
        for target, cotangent in zip(targets, cotangents, strict=True):
            tensor = target if isinstance(target, SymbolicTensor) else None
            seed = _seed(target, cotangent)
            if tensor is not None and seed is not None:
                region.lift(tensor.value_in_graph)  # raises an error if the target is out of scope
                target_values.append(tensor.value_in_graph)
                seeds.append(region.lift(_lift_to_graph(region, seed)))
        connected_sources: list[Value] = [value for value in connected_or_none if value is not None]
        remaining_gradients = iter(
            symbolic_gradients(
                region, target_values, seeds, connected_sources, self._interval.nodes_in, self._recompute_every
            )
        )
        gradients = [None if source is None else next(remaining_gradients) for source in connected_or_none]
        return [None if value is None else _wrap_gradient(region, region.lift(value)) for value in gradients]


def _seed(target: Any, cotangent: Any) -> Any:
    """Return the initial cotangent of a target; None for one without a gradient."""
    if not target.dtype.is_differentiable:
        _warn("target", target, " when calling GradientTape.gradient")
        return None
    tensor = convert_to_tensor(target) if isinstance(target, Variable) else target
    if cotangent is None:
        return apply("ones_like", tensor)
    seed = convert_to_tensor(cotangent, tensor.type.dtype) if not isinstance(cotangent, Tensor) else cotangent
    if not seed.shape.is_compatible_with(tensor.shape):
        raise ValueError(f"a target has the shape {tensor.shape}, its output_gradients have {seed.shape}")
    return seed


def _tensor_leaves(values: TensorLike, role: str) -> list[Any]:
    """Return the tensors and variables in a structure of targets or sources; `role` is "target" or "source"."""
    leaves = list(map(represented_value, DifferentiableTensors(values).tensors))
    for value in leaves:
        if not isinstance(value, (Tensor, Variable)):
            raise _tensor_type_error(value)
        if role == "source" and not value.dtype.is_differentiable:
            _warn("source", value, " when calling GradientTape.gradient")
    return leaves


def _tensor_type_error(value: TensorLike) -> ValueError:
    """Return the error for a source or target that is no tensor."""
    return ValueError(
        f"Passed in object {value!r} of type {type(value).__name__!r}, not autoconv.Tensor or autoconv.Variable: make "
        "a tensor of it, autoconv.constant(…), before the tape records what is computed with it."
    )


def _warn(role: str, value: Any, context: str) -> None:
    """Log a warning that the dtype of a tensor has no gradients; `role` and `context` are parts of its text."""
    _LOG.warning(
        "The dtype of the %s tensor must be floating (e.g. autoconv.float32)%s, got %r", role, context, value.dtype
    )


def _check_recompute_every(steps: int | None) -> int | None:
    """Return the argument `recompute_every`; raise ValueError unless it is a positive number or None."""
    if steps is not None and (not isinstance(steps, int) or steps < 1):
        raise ValueError(f"recompute_every is a number of iterations, at least 1, found {steps!r}")
    return steps


def _recorded_value(value: TensorLike) -> Any:
    """Return the object that stands for `value` in a tape's records: a variable's storage, a tensor itself."""
    return value.storage if isinstance(value, Variable) else value


def _lift_to_graph(region: Region, tensor: Any) -> Value:
    """Return the value of a tensor in the graph; an eager tensor is captured."""
    if isinstance(tensor, SymbolicTensor):
        return tensor.value_in_graph
    return region.trace.capture(tensor, tensor.type, "Const")


def _reshape(value: TensorLike, shape: tuple[Any, ...], dynamic_shape: Any) -> Any:
    """Return the value reshaped to the static `shape`, or to the tensor `dynamic_shape` if `shape` contains None."""
    operands = () if None not in shape else (dynamic_shape,)
    return apply("reshape", value, *operands, shape=shape)


def _wrap_gradient(region: Region, value: Value) -> Any:
    """Return the gradient as a tensor, or under `function` as IndexedSlices if it is a sum of gradients of `gather`."""
    slices = None if region.contract.objects_in_graph else row_slices(region, value)
    return SymbolicTensor(value) if slices is None else slices
