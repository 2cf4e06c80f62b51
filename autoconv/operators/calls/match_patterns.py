"""Tests that the patterns of a match statement apply to their subject.

Python reads each item and attribute of a pattern once. Here the test reads it, and the sub-pattern reads it again.
`compile` therefore refuses a pattern whose reads run methods of the program that do more than read.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from autoconv.errors import StagingError
from autoconv.operators.calls.call import call
from autoconv.operators.control.conditionals import and_, not_
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.read_only_methods import only_reads
from autoconv.operators.values.instances import is_user_defined
from autoconv.operators.values.membership import in_
from autoconv.ops.program_errors import mark_program_error
from autoconv.ops.python.attribute_access import may_compute_attribute, runs_user_code
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.tensor import Tensor

# Classes whose single positional pattern matches the subject itself, as does that of their subclasses.
_SELF_MATCHING_CLASSES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
_TEXT_CLASSES = (str, bytes, bytearray)


def is_sequence(subject: object, count: int, or_more: bool = False) -> Any:
    """Return whether a sequence pattern with `count` items, with `or_more` at least so many, can match."""
    if isinstance(subject, Tensor) and not subject.weak:
        return False
    _require_harmless_reads(subject, ("__len__", "__getitem__", "__iter__"))
    has_size = lambda: call(len)(subject) >= count if or_more else call(len)(subject) == count
    return and_(call(isinstance)(subject, Sequence), lambda: _is_not_text(subject), has_size)


def is_mapping(subject: object, keys: tuple[Any, ...]) -> Any:
    """Return whether the subject is a mapping with all the keys."""
    _require_harmless_reads(subject, ("get", "__contains__", "__getitem__", "keys", "__iter__"))
    return and_(call(isinstance)(subject, Mapping), *[_key_test(subject, key) for key in keys])


def is_instance(subject: object, cls: Any, attributes: tuple[str, ...] = (), positional: int = 0) -> Any:
    """Return whether the subject is an instance of the class with the attributes of the pattern.

    The test raises TypeError for an instance if the pattern has too many positional patterns.
    """
    is_of_class = call(isinstance)(subject, cls)
    names = getattr(cls, "__match_args__", ())
    refusal = _positional_refusal(cls, names, positional) if positional else ""
    if refusal:

        def refuse() -> NoReturn:
            raise mark_program_error(TypeError(refusal))

        return and_(is_of_class, refuse)
    attributes = (*names[:positional], *attributes)
    _require_harmless_reads(subject, (), attributes)
    return and_(is_of_class, *[_attribute_test(subject, name) for name in attributes])


def _positional_refusal(cls: type, names: object, positional: int) -> str:
    """Return Python's message where a class with these `__match_args__` takes fewer positional patterns; else ""."""
    if not isinstance(names, tuple):
        return f"{cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})"
    limit = 1 if _matches_itself(cls) else len(names)
    plural = "" if limit == 1 else "s"
    message = f"{cls.__name__}() accepts {limit} positional sub-pattern{plural} ({positional} given)"
    return message if positional > limit else ""


def _matches_itself(cls: type) -> bool:
    """Return whether the single positional pattern of a class matches the subject itself."""
    return issubclass(cls, _SELF_MATCHING_CLASSES) and not hasattr(cls, "__match_args__")


def _require_harmless_reads(subject: object, methods: Iterable[str], attributes: Iterable[str] = ()) -> None:
    """Raise StagingError under `compile` if reading parts of the subject runs methods that do more than read."""
    region = current_region()
    if region is None or not region.contract.effects_each_call:
        return
    for value in subject.values if type(subject) is Variant else (subject,):
        kind = type(value)
        if kind in TRACED_TO_PLAIN:
            continue  # Python's list, dict or set during the trace
        names = [name for name in methods if _has_effects(getattr(kind, name, None))]
        names += [name for name in attributes if _computes_with_effects(kind, name)]
        if names:
            raise StagingError(
                f"a pattern reads {names[0]!r} of {with_article(kind)}, which may do more than read", current_place(),
                "an attribute, or if statements",
            )  # fmt: skip


def _has_effects(method: Any) -> bool:
    """Return whether a method is defined by the program and may do more than read."""
    method = getattr(method, "__autoconv_original__", method)
    return is_user_defined(method) and not only_reads(method)


def _computes_with_effects(kind: type, name: str) -> bool:
    """Return whether reading an attribute of an instance may run code of the program that does more than read."""
    attribute = inspect.getattr_static(kind, name, None)
    if isinstance(attribute, property):
        return _has_effects(attribute.fget)
    if isinstance(attribute, types.FunctionType):
        return False
    return runs_user_code(kind, name) or may_compute_attribute(kind, name)


def match_argument(subject: object, cls: Any, position: int) -> Any:
    """Return the value that the positional pattern at that position is matched against."""
    return subject if _matches_itself(cls) else getattr(subject, cls.__match_args__[position])


def rest_of(subject: object, keys: tuple[Any, ...]) -> Any:
    """Return a dict of a mapping's items without those keys."""
    result = call(dict)(subject)
    for key in keys:
        del result[key]
    return result


def _is_not_text(subject: object) -> Any:
    return not_(call(isinstance)(subject, _TEXT_CLASSES))


def _key_test(subject: object, key: object) -> Any:
    return lambda: in_(key, subject)


def _attribute_test(subject: object, name: str) -> Any:
    return lambda: call(hasattr)(subject, name)
