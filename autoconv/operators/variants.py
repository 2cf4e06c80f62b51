"""Variants as users meet them: read, compared with None, tested, computed with."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import AutoconvError, StagingError
from autoconv.graph.types import weak_rank
from autoconv.operators.layout import Static, Variant
from autoconv.operators.names import Undefined, unbound
from autoconv.operators.staging import stage_arms
from autoconv.runtime import dispatch
from autoconv.runtime.objects import box
from autoconv.runtime.recording import current_region
from autoconv.runtime.spans import current_place
from autoconv.runtime.tensor import SymbolicTensor, Tensor
from autoconv.runtime.tensor_methods import TensorMethods


def raise_if(condition: Any, error: BaseException) -> None:
    """Records that `error` is raised where the symbolic bool `condition` holds."""
    region = current_region()
    assert region is not None

    def fails() -> tuple[()]:
        raise error

    stage_arms(condition, [fails, lambda: ()], [], ())


def is_absent(value: Any) -> bool:
    return value is None or isinstance(value, Undefined)


def without(variant: Variant, drop: Any, error: Any) -> Any:
    """The variant less the arms for which `drop(value)`; where the tag is one of those, `error(value)` is raised."""
    kept = []
    for index, value in enumerate(variant.values):
        if isinstance(variant.layouts[index], Static) and drop(value):
            if error is not None:
                raise_if(variant.tag == index, error(value))
        else:
            kept.append(index)
    if len(kept) == 1:
        return variant.values[kept[0]]
    if len(kept) == len(variant.values):
        return variant
    layouts = [variant.layouts[i] for i in kept]
    table = [kept.index(i) if i in kept else 0 for i in range(len(variant.values))]
    tag = dispatch.apply("gather", np.array(table, np.int64), variant.tag, axis=0)
    return Variant(
        dispatch.apply("python_cast", tag, dtype=variant.tag.type.dtype, weak=True),
        layouts,
        [variant.values[i] for i in kept],
    )


def defined(variant: Variant) -> Any:
    """What `ag__.ld` gives: UnboundLocalError where the name is not assigned."""
    return without(variant, lambda v: isinstance(v, Undefined), lambda v: unbound(v.name))


def assigned(variant: Variant) -> Any:
    """The variant less its undefined arm, which the structure of the program rules out."""
    return without(variant, lambda v: isinstance(v, Undefined), None)


def distribute(function: Any, *operands: Any) -> Any:
    """`function(*operands)` where some operands are variants: computed in an arm each for what they may be."""
    for position, operand in enumerate(operands):
        if type(operand) is Variant:
            before, after = operands[:position], operands[position + 1 :]
            variant = defined(operand)
            if type(variant) is not Variant:
                return distribute(function, *before, variant, *after)
            arms = [_arm(function, before, value, after) for value in variant.values]
            (result,) = stage_arms(variant.tag, arms, [], ("value",))
            return result
    return function(*operands)


def _arm(function: Any, before: Any, value: Any, after: Any) -> Any:
    def arm() -> tuple[Any]:
        try:
            return (distribute(function, *before, value, *after),)
        except (TypeError, AttributeError) as error:
            if not isinstance(error, AutoconvError):
                _name_numbers(error, (*before, value, *after))
                error._autoconv_run_time = True  # type: ignore[union-attr]
            raise

    return arm


def _name_numbers(error: Exception, operands: Sequence[Any]) -> None:
    """Has the message name Python's own class, where one number of the graph is what it tells of."""
    numbers = [x for x in operands if isinstance(x, SymbolicTensor)]
    if len(numbers) == 1 and numbers[0].weak and len(error.args) == 1 and isinstance(error.args[0], str):
        kind = ("bool", "int", "float", "complex")[weak_rank(numbers[0].type.dtype)]
        error.args = (error.args[0].replace("'SymbolicTensor'", f"'{kind}'"),)


def boxed(variant: Variant) -> Any:
    """The variant as one object of the graph."""
    arms = [lambda value=value: (box(value),) for value in variant.values]
    (result,) = stage_arms(variant.tag, arms, [], ("value",))
    return result


def payload(variant: Variant, operation: str) -> Any:
    """The one arm of the variant that is a value; the others raise what Python raises for them."""

    def error(value: Any) -> Exception:
        if isinstance(value, Undefined):
            return unbound(value.name)
        return TypeError(f"unsupported operand type(s) for {operation}: 'NoneType'")

    found = without(variant, is_absent, error)
    if isinstance(found, Variant):
        raise StagingError(
            f"this value is one of several kinds depending on a tensor ({', '.join(map(_kind, found.values))}), and "
            f"{operation} needs to know which",
            current_place(),
            "values of one kind on every path",
        )
    return found


def _kind(value: Any) -> str:
    return "tensor" if isinstance(value, Tensor) else type(value).__name__


def _forward(name: str) -> Any:
    function = _FUNCTIONS.get(name)

    def method(self: Variant, *arguments: Any) -> Any:
        if function is not None:
            return distribute(function, self, *arguments)
        return getattr(payload(self, name), name)(*arguments)

    return method


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "xor")
_FUNCTIONS: dict[str, Any] = {f"__{name}__": getattr(operator, name) for name in _BINARY}
_FUNCTIONS.update({f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")})
_FUNCTIONS.update({f"__{name}__": getattr(operator, name) for name in ("neg", "pos", "abs", "invert", "getitem")})
_FUNCTIONS.update({"__and__": operator.and_, "__or__": operator.or_, "__divmod__": divmod, "__round__": round})
_FUNCTIONS.update(
    {f"__r{name[2:]}": lambda x, y, f=f: f(y, x) for name, f in list(_FUNCTIONS.items()) if name[2:-2] in _BINARY}
)
_FUNCTIONS.update({"__rand__": lambda x, y: y & x, "__ror__": lambda x, y: y | x})


def is_arm(variant: Variant, wanted: Any) -> Any:
    """`variant is wanted`, for a static object."""
    for index, layout in enumerate(variant.layouts):
        if isinstance(layout, Static) and layout.value is wanted:
            return variant.tag == index
    return False


for _name, _method in vars(TensorMethods).items():
    if _name.startswith("__") and callable(_method) and _name not in ("__init__", "__slots__"):
        setattr(Variant, _name, _forward(_name))
for _name in ("__len__", "__iter__", "__call__", "__index__", "__float__", "__int__"):
    setattr(Variant, _name, _forward(_name))
Variant.__hash__ = None  # type: ignore[assignment]
Variant.__autoconv_box__ = boxed  # type: ignore[attr-defined]
Variant.__autoconv_defined__ = defined  # type: ignore[attr-defined]
Variant.__autoconv_assigned__ = assigned  # type: ignore[attr-defined]


def _attribute(self: Variant, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return distribute(lambda value: getattr(value, name), self)


Variant.__getattr__ = _attribute  # type: ignore[attr-defined]
