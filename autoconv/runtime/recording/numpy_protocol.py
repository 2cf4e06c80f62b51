"""NumPy's functions on tensors: the table of implementations, and NumPy's dispatch protocols.

`autoconv.numpy` fills the table. NumPy calls `__array_ufunc__` and `__array_function__` of a tensor among the
arguments. Functions without that protocol (`np.zeros(n)`, `np.array([x, y])`) are looked up by converted code.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import opcode
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.config.paths import is_own_file
from autoconv.errors import StagingError
from autoconv.graph.python_operators import BINARY, COMPARISONS, Operator
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.recording.tape_recorders import active_recorders, follows
from autoconv.runtime.support.remedies import COMPILE_ADVICE
from autoconv.runtime.support.spans import current_place

# NumPy's function (or ufunc, or scalar type) -> its implementation by ops, with the same arguments.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
# Functions that create arrays: under `compile` they are called through the table even without a tensor among arguments.
CREATION_FUNCTIONS: set[Any] = set()
# Functions that write into their first argument.
MUTATING_FUNCTIONS: frozenset[Any] = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis, np.random.shuffle}
    | {function.at for function in vars(np).values() if isinstance(function, np.ufunc)}
)

# The ufuncs of Python's operators, which tensors implement themselves.
_OPERATOR_BY_UFUNC: dict[Any, Operator] = {getattr(np, entry.ufunc): entry for entry in (*BINARY, *COMPARISONS)}


def implementation(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the implementation of a NumPy function on tensors; None if the table has none."""
    try:
        return FUNCTIONS.get(function)
    except TypeError:  # unhashable
        return None


def call_implementation(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call the implementation of a NumPy function on tensors."""
    compute = implementation(function)
    assert compute is not None
    return compute(*args, **kwargs)


def check_options(options: dict[str, Any]) -> None:
    """Raise NumPy's error for a wrong value of an option that means the same in all of its functions."""
    for name in _CHECK_BY_OPTION.keys() & options.keys():
        _CHECK_BY_OPTION[name](options[name])


_CHECK_BY_OPTION: dict[str, Callable[[Any], Any]] = {
    "order": lambda order: np.array(0, order=order),
    "copy": lambda copy: np.array(0, copy=copy or None),
    "casting": lambda casting: np.can_cast(bool, bool, casting=casting),
    "like": lambda like: np.array(0, like=like),
    "device": lambda device: np.zeros(0, device=device),
}


def with_named_out(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call of NumPy's function, with `out` and the positional ones after it as keywords."""
    kept_count, names = _parameters_from_out(function)
    if len(args) <= kept_count:
        return args, kwargs
    if isinstance(function, np.ufunc):
        return args[:kept_count], {**kwargs, "out": args[kept_count:]}
    if len(args) > kept_count + len(names) or not kwargs.keys().isdisjoint(names):
        return args, kwargs  # the call raises
    return args[:kept_count], {**kwargs, **dict(zip(names, args[kept_count:], strict=False))}


@functools.cache
def _parameters_from_out(function: Any) -> tuple[int, tuple[str, ...]]:
    """Return the position of the parameter `out` of NumPy's function, and the names of positional ones from there."""
    if isinstance(function, np.ufunc):
        return function.nin, ("out",)
    descriptions: tuple[Any, ...] = (function, implementation(function))
    for described in descriptions:
        with contextlib.suppress(TypeError, ValueError):  # no text of a signature, or None
            parameters = inspect.signature(described).parameters.values()
            names = [x.name for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
            if "out" in names:
                return names.index("out"), tuple(names[names.index("out"):])
    return sys.maxsize, ()


def find_numpy_function(name: str) -> Any:
    """Return NumPy's function for a dotted name such as `linalg.norm`; None if this version has none."""
    try:
        return functools.reduce(getattr, name.split("."), np)
    except AttributeError:
        return None


def array_ufunc(self: Any, ufunc: Callable[..., Any], method: str, *inputs: Any, **kwargs: Any) -> Any:
    """`__array_ufunc__` of tensors, with NumPy's promotion; the operator `array + tensor` has the tensor's rules."""
    region = current_region()
    if region is not None and region.contract.numpy_arrays:  # an array of the program is among the inputs
        region.trace.uses_arrays = True
    may_be_operator = method == "__call__" and not kwargs and ufunc in _OPERATOR_BY_UFUNC
    if may_be_operator and _is_called_by_operator(sys._getframe(1)):
        return _apply_operator(_OPERATOR_BY_UFUNC[ufunc], *inputs)
    out = kwargs.get("out", ())
    numpy_function = ufunc if method == "__call__" else getattr(ufunc, method)
    compute = implementation(numpy_function)
    if compute is None or any(isinstance(x, np.ndarray) for x in out) or _runs_numpy(numpy_function, (*inputs, *out)):
        return call_numpy(ufunc, method, inputs, kwargs)
    if len(out) == 1:
        kwargs["out"] = out[0]
    return compute(*inputs, **kwargs)


def array_function(
    self: Any, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`__array_function__` of tensors."""
    compute = implementation(function)
    if compute is None or isinstance(kwargs.get("out"), np.ndarray) or _runs_numpy(function, (args, kwargs)):
        return call_numpy(function, "__call__", args, kwargs)
    return compute(*args, **kwargs)


def _runs_numpy(function: Callable[..., Any], values: Any) -> bool:
    """Return whether NumPy's own function runs, on the tensors' arrays: eagerly, where no tape follows a tensor."""
    if current_region() is not None or function in MUTATING_FUNCTIONS:
        return False
    return not active_recorders() or not any(_is_followed(value) for value in values)


def _is_followed(value: Any) -> bool:
    """Return whether a value, at any depth of lists, tuples and dicts, is a tensor or variable that a tape follows."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_followed, value))
    if isinstance(value, dict):
        return any(map(_is_followed, value.values()))
    if hasattr(value, "storage"):  # a variable, which tapes watch when it is read
        return any(recorder.watches_variables or recorder.follows(value.storage) for recorder in active_recorders())
    return any(follows([value]))


def numpy_refusal(name: str, details: str = "") -> StagingError:
    """Return the error for a function of NumPy that a graph does not support; `compile` then runs it as plain Python.
    """
    remedy = "" if current_contract().runs_plain else f"functions of autoconv. Or: {COMPILE_ADVICE}"
    return StagingError(f"{name} is not supported in a graph{details}", current_place(), remedy)


def call_numpy(function: Callable[..., Any], method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call NumPy's own function on the tensors' arrays; raise StagingError while a graph is traced."""
    if current_region() is not None:
        name = qualified_name(function) + ("" if method == "__call__" else f".{method}")
        raise numpy_refusal(name)
    numpy_function = function if method == "__call__" else getattr(function, method)
    return numpy_function(*tensors_to_arrays(args), **tensors_to_arrays(kwargs))


def qualified_name(function: Callable[..., Any]) -> str:
    """Return the qualified name as users write it: `numpy.fft.fft`, `numpy.add.at`."""
    name = getattr(function, "__name__", str(function))
    if isinstance(owner := getattr(function, "__self__", None), np.ufunc):
        return f"numpy.{owner.__name__}.{name}"
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module}.{getattr(function, '__qualname__', name)}"


def tensors_to_arrays(value: Any) -> Any:
    """Replace tensors by NumPy's arrays, at any depth of lists, tuples and dicts."""
    if type(value) in (list, tuple):
        return type(value)(map(tensors_to_arrays, value))
    if type(value) is dict:
        return {key: tensors_to_arrays(item) for key, item in value.items()}
    is_tensor = hasattr(type(value), "__array_function__") and not isinstance(value, (np.ndarray, np.generic))
    return np.asarray(value) if is_tensor else value


def _is_called_by_operator(frame: Any) -> bool:
    """Return whether the frame's current instruction is an operator, or the frame belongs to this package."""
    name = opcode.opname[frame.f_code.co_code[frame.f_lasti]]
    return name in ("BINARY_OP", "COMPARE_OP") or is_own_file(frame.f_code.co_filename)


def _apply_operator(operator: Operator, x: Any, y: Any) -> Any:
    """Apply the operator by the rules of the operand that is not an array."""
    if not isinstance(x, (np.ndarray, np.generic)):
        return operator.function(x, y)
    return getattr(y, operator.reflected)(x)
