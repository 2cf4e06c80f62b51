"""Derivatives as function transformations: `grad(f)` is the function that computes the gradient of `f`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.api.gradients.accumulator import jvp_of
from autoconv.api.gradients.dense_gradients import dense
from autoconv.api.gradients.tape import GradientTape, UnconnectedGradients
from autoconv.config import SETTINGS
from autoconv.errors import StagingError
from autoconv.graph.dtypes import as_dtype
from autoconv.operators.calls.call import call as callable_for
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.arrays.symbolic_arrays import wrap_new_arrays
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import flat_leaves, flatten, map_structure, pack
from autoconv.runtime.support.trace_callables import called_unconverted
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor, python_number, weak_constant
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import ArrayTensor, EagerTensor, Tensor
from autoconv.tracing.api.function import Function as Compiled
from autoconv.tracing.api.function_options import FunctionOptions

Function = Callable[..., Any]
_COPIED_ATTRIBUTES = ("__name__", "__qualname__", "__doc__")  # of a function, for its transforms


@called_unconverted
def value_and_grad(f: Function, argnums: int | Sequence[int] = 0, *, recompute_every: int | None = None) -> Function:
    """Return the function that computes the value of `f`, a scalar, and its gradient by an argument.

    `argnums` is the position of this argument; for several positions the gradients are a tuple. Arguments are tensors,
    arrays and floats, or structures of them, and each gradient is a tensor, array or float as its argument is. `f` may
    be under `function`; if `f` is under `compile`, the returned function is, too. The gradient by an argument on which
    `f` does not depend is zero. Raises TypeError for an argument that is not floating and for a value that is not a
    scalar; also if `f` converts its argument to a Python number or an array.

    >>> autoconv.value_and_grad(lambda x: x**3)(2.0)
    (8.0, 12.0)
    """

    return _compile_like(f, _with_gradient(f, argnums, recompute_every))


@called_unconverted
def grad(f: Function, argnums: int | Sequence[int] = 0, *, recompute_every: int | None = None) -> Function:
    """Return the function that computes the gradient of `f`; see `value_and_grad`.

    >>> autoconv.grad(lambda x: x**3)(2.0)
    12.0
    """
    value_and_gradient = _with_gradient(f, argnums, recompute_every)

    @_wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return value_and_gradient(*args, **kwargs)[1]

    return _compile_like(f, gradient)


def _with_gradient(f: Function, argnums: int | Sequence[int], recompute_every: int | None) -> Function:
    """Return the function that computes the value and the gradient of `f`, not under `compile`."""
    @_wraps(f)
    def with_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        all_arguments, wrt_arguments = _select_arguments(f, args, argnums)
        tape = GradientTape(watch_accessed_variables=False, recompute_every=recompute_every)
        with tape:
            wrt_arguments = map_structure(lambda x: _watch(tape, x), wrt_arguments)
            value = callable_for(f)(*all_arguments, **kwargs)
        result = _check_scalar(f, value)
        raw_gradients = tape.gradient(result, wrt_arguments)
        _check_complete(f, tape, raw_gradients)
        arguments, template = flatten(wrt_arguments)
        packed_gradients = pack(template, _gradients_of_kind(raw_gradients, arguments))
        gradients = packed_gradients[0] if isinstance(argnums, int) else tuple(packed_gradients)
        return _convert_to_kind(result, result), gradients

    return with_gradient


@called_unconverted
def jacobian(f: Function, argnums: int = 0) -> Function:
    """Return the function that computes the derivatives of each element of f's result by each element of an argument.

    `argnums` is the position of the argument. Result and argument are tensors; the shape of the derivatives is the
    shape of the result followed by the shape of the argument.

    >>> autoconv.jacobian(lambda x: x**2)(autoconv.constant([1.0, 2.0])).numpy()
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """

    @_wraps(f)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        all_arguments, (argument,) = _select_arguments(f, args, argnums)
        tape = GradientTape(persistent=True, watch_accessed_variables=False)
        with tape:
            argument = map_structure(lambda x: _watch(tape, x), argument)
            value = callable_for(f)(*all_arguments, **kwargs)
        _check_complete(f, tape)
        result = value if isinstance(value, Tensor) else convert_to_tensor(value)
        jacobians = tape.jacobian(result, argument, unconnected_gradients=UnconnectedGradients.ZERO)
        templates = [result] if type(result) is ArrayTensor else []  # derivatives of an array are an array
        convert = lambda leaf_jacobian, x: _convert_to_kind(leaf_jacobian, x, *templates)
        return map_structure(convert, jacobians, argument)

    return _compile_like(f, derivatives)


@called_unconverted
def hessian(f: Function, argnums: int = 0) -> Function:
    """Return the function that computes the second derivatives of `f`, a scalar, by a tensor.

    `argnums` is the position of this tensor among the arguments. There is a second derivative for each pair of its
    elements: the shape is that of the argument twice.

    >>> autoconv.hessian(lambda x: autoconv.reduce_sum(x**3))(autoconv.constant([1.0, 2.0])).numpy()
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """

    @_wraps(f)
    def second_derivatives(*args: Any, **kwargs: Any) -> Any:
        all_arguments, (argument,) = _select_arguments(f, args, argnums)
        if not isinstance(argument, (Tensor, np.ndarray)):
            raise TypeError(f"hessian takes the derivatives with respect to one tensor, found {argument!r}")
        outer_tape = GradientTape(persistent=True, watch_accessed_variables=False)
        with outer_tape:
            argument = _watch(outer_tape, argument)
            inner_tape = GradientTape(watch_accessed_variables=False)
            with inner_tape:
                inner_tape.watch(argument)
                result = _check_scalar(f, callable_for(f)(*all_arguments, **kwargs))
            gradient = inner_tape.gradient(result, argument)
            _check_complete(f, inner_tape, gradient)
            gradient = _fill_zeros(gradient, argument)
        jacobian_of_gradient = outer_tape.jacobian(gradient, argument, unconnected_gradients=UnconnectedGradients.ZERO)
        return _convert_to_kind(jacobian_of_gradient, argument)

    return _compile_like(f, second_derivatives)


@called_unconverted
def vjp(f: Function, *primals: Any) -> tuple[Any, Function]:
    """Return the value of f(*primals), and the vjp: a function from cotangents of the value to those of the primals.

    The cotangents of the primals are a tuple with one entry for each primal.

    >>> value, back = autoconv.vjp(lambda x: x**2, autoconv.constant([1.0, 2.0]))
    >>> back(autoconv.constant([1.0, 1.0]))[0].numpy()
    array([2., 4.], dtype=float32)
    """
    all_arguments, wrt_arguments = _select_arguments(f, primals, tuple(range(len(primals))))
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    with tape:
        wrt_arguments = map_structure(lambda x: _watch(tape, x), wrt_arguments)
        value = callable_for(f)(*all_arguments)
    _check_complete(f, tape)

    @called_unconverted
    def back(cotangents: Any) -> tuple[Any, ...]:
        value_leaves, value_template = flatten(value)
        cotangent_leaves = [cotangents] if value_template is None else flat_leaves(cotangents)
        leaves = [leaf if is_tensor(leaf) else convert_to_tensor(leaf) for leaf in value_leaves]
        output_gradients = [
            convert_to_tensor(cotangent, leaf.dtype)
            for cotangent, leaf in zip(cotangent_leaves, leaves, strict=True)
        ]
        gradients = tape.gradient(leaves, wrt_arguments, output_gradients=output_gradients)
        arguments, template = flatten(wrt_arguments)
        return tuple(pack(template, _gradients_of_kind(gradients, arguments)))

    return map_structure(lambda leaf: _convert_to_kind(leaf, leaf), value), back


@called_unconverted
def jvp(f: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return the value of f(*primals), and its directional derivative along the tangents.

    >>> value, change = autoconv.jvp(lambda x: x**2, [autoconv.constant(3.0)], [autoconv.constant(1.0)])
    >>> change.numpy()
    np.float32(6.0)
    """
    all_arguments, wrt_arguments = _select_arguments(f, tuple(primals), tuple(range(len(primals))))
    directions = map_structure(
        lambda x, tangent: convert_to_tensor(tangent, as_dtype(x.dtype)), list(wrt_arguments), list(tangents)
    )
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    with tape:
        wrt_arguments = map_structure(lambda x: _watch(tape, x), list(wrt_arguments))
        value = callable_for(f)(*all_arguments)
    _check_complete(f, tape)
    leaves, template = flatten(value)
    sources, source_directions = flat_leaves(wrt_arguments), flat_leaves(directions)
    raw_derivatives = [jvp_of(tape, leaf, sources, source_directions, fills_zeros=True) for leaf in leaves]
    derivatives = [_convert_to_kind(raw, leaf) for raw, leaf in zip(raw_derivatives, leaves, strict=True)]
    return map_structure(lambda leaf: _convert_to_kind(leaf, leaf), value), pack(template, derivatives)


def _wraps(f: Function) -> Callable[[Function], Function]:
    """Return a decorator like functools.wraps for a transform of `f`, which is not converted itself.

    Raises TypeError if `f` is no function.
    """
    _check_callable(f)

    def wrap(transformed: Function) -> Function:
        return called_unconverted(functools.wraps(f, _COPIED_ATTRIBUTES, ())(transformed))

    return wrap


def _check_callable(f: Callable[..., Any]) -> None:
    """Raise TypeError if `f` cannot be called."""
    if not callable(f):
        raise TypeError(f"derivatives are taken of a function, found {f!r}")


def _compile_like(f: Function, transform: Function) -> Function:
    """Return the transform under `compile`, as one graph, if `f` is under `compile`; else the transform itself."""
    if not isinstance(f, Compiled) or not f._contract.runs_plain or SETTINGS.disabled:
        return transform
    return Compiled(transform, f._contract, FunctionOptions(backend=f.backend))


def _select_arguments(f: Function, args: tuple[Any, ...], argnums: int | Sequence[int]) -> tuple[list[Any], list[Any]]:
    """Return all arguments with those at `argnums` made differentiable, and the list of the latter alone."""
    _check_callable(f)
    positions = [argnums] if isinstance(argnums, int) else list(argnums)
    all_arguments = list(args)
    for position in positions:
        if not -len(args) <= position < len(args):
            raise TypeError(f"there is no argument {position} to differentiate by: {_name(f)} got {len(args)}")
        all_arguments[position] = map_structure(lambda leaf: _differentiable_leaf(f, leaf), all_arguments[position])
    return all_arguments, [all_arguments[position] for position in positions]


def _differentiable_leaf(f: Function, value: Any) -> Any:
    """Return `value`, which `f` is differentiated by, as a new tensor, or as a view if it is an array.

    An outer tape distinguishes arguments by their identity, so an object passed twice needs two objects.
    """
    region = current_region()
    if isinstance(value, float) and not isinstance(value, np.generic):
        return python_number(value) if region is None else _float_in_graph(region, value)
    if isinstance(value, SymbolicObject):
        raise StagingError("a function is differentiated by an object of the graph", current_place())
    if not is_tensor(value) and not isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(f"{_name(f)} is differentiated by a tensor, an array or a float, found {value!r}")
    is_compiled = getattr(f, "_contract", Contract).numpy_arrays and region is None
    if is_compiled and type(value) is ArrayTensor and not any(tape_recorders.follows([value])):
        value = value._array
    if is_compiled and isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return value.view()  # under `compile` arrays and tensors are different kinds of arguments
    if is_tensor(value):
        tensor = value
    else:
        tensor = convert_to_tensor(value) if region is not None else ArrayTensor(np.array(value))
    if not as_dtype(tensor.dtype).is_differentiable:
        dtype_name = as_dtype(tensor.dtype).name
        raise TypeError(f"{_name(f)} is differentiated by a floating tensor, found one of {dtype_name}")
    if region is not None and region.contract.numpy_arrays:
        return apply("identity", tensor)  # the value of an array as it is now
    return tensor


def _float_in_graph(region: Region, value: float) -> Any:
    """Return a float as a value of the graph that is being traced."""
    return weak_constant(region, value) if region.contract.python_numbers else convert_to_tensor(value)


def _watch(tape: GradientTape, value: TensorLike) -> Any:
    """Watch an argument; return the tensor that represents it."""
    if isinstance(value, np.ndarray):
        return tape.watch_array(value)
    tape.watch(value)
    return value


def _check_scalar(f: Function, value: Any) -> Any:
    """Return the value of `f` as a tensor; raise TypeError unless it is a differentiable scalar."""
    if not is_tensor(value) and not isinstance(value, (float, int, np.generic)):
        raise TypeError(f"a gradient is taken of a scalar, {_name(f)} gave {value!r}")
    result = value if is_tensor(value) else convert_to_tensor(value)
    if result.shape.rank not in (0, None):
        raise TypeError(
            f"a gradient is taken of a scalar, {_name(f)} gave a tensor of shape {result.shape}: sum it up, or use "
            "autoconv.jacobian"
        )
    if not result.dtype.is_differentiable:
        raise TypeError(f"a gradient is taken of a floating scalar, {_name(f)} gave one of {result.dtype.name}")
    return result


def _check_complete(f: Function, tape: GradientTape, gradients: object = ()) -> None:
    """Raise TypeError if gradients lack terms: if `f` converts the argument to a Python number or array."""
    if tape.may_lack_terms(flat_leaves(gradients)):
        raise TypeError(
            f"{_name(f)} converts the argument to a Python number or a NumPy array, through which no gradient flows: "
            "use the functions of autoconv for those of math and numpy, autoconv.stop_gradient(x) for values that are "
            "only looked at, or decorate it with @autoconv.compile"
        )


def _gradients_of_kind(gradients: Any, arguments: Sequence[Any]) -> list[Any]:
    """Return the leaves of a structure of gradients, each dense and of the kind of its argument; zeros for None."""
    leaves = flat_leaves(gradients, lambda x: isinstance(x, IndexedSlices))
    return [_convert_to_kind(_fill_zeros(leaf, x), x) for leaf, x in zip(leaves, arguments, strict=True)]


def _fill_zeros(gradient: Any, argument: Any) -> Any:
    """Return the gradient by the argument as a dense tensor; zeros of the argument's shape for None."""
    if gradient is None:
        return apply("zeros_like", argument if isinstance(argument, Tensor) else convert_to_tensor(argument))
    return dense(gradient)


def _convert_to_kind(value: TensorLike, *templates: object) -> Any:
    """Return the value as the kind of the templates: a NumPy array if one is an array, a float if one is a weak number.

    A value of a function is its own template. Without such a template, or if an outer tape follows the value, it stays
    a tensor; the tape needs an object that it can follow.
    """
    is_number = any(isinstance(template, Tensor) and template.weak for template in templates)
    if isinstance(value, SymbolicTensor):
        needs_cast = is_number and not value.weak and value.type.shape == ()
        return apply("python_cast", value, dtype=value.type.dtype, weak=True) if needs_cast else wrap_new_arrays(value)
    if not isinstance(value, EagerTensor):
        return value
    is_array = any(type(template) is ArrayTensor for template in templates)
    is_number = is_number and not is_array and not value.type.rank
    if not (is_array or is_number):
        return value
    if not any(tape_recorders.follows([value])):
        return value._array.item() if is_number else value.numpy()
    if is_array and type(value) is EagerTensor:
        value = apply("identity", value)  # a new object, followed by the same tapes, may change its class
        value.__class__ = ArrayTensor
    return value


def _name(f: Callable[..., Any]) -> str:
    """Return the name of a function in errors."""
    return str(getattr(f, "__name__", type(f).__name__))
