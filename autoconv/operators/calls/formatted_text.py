"""Formatting of values as text, while tracing or when the graph runs."""

from __future__ import annotations

import operator
from typing import Any

from autoconv.operators.calls.in_place_operators import imod as augment_modulo
from autoconv.operators.calls.object_calls import graph_call
from autoconv.operators.calls.operator_functions import STATEMENT_OVERRIDES
from autoconv.operators.control.iterables import StagedRange
from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.overrides import OVERRIDES
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import has_graph_object
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.objects.rebuilt_arguments import is_rebuilt
from autoconv.runtime.objects.symbol_search import holds_created_objects, holds_symbols
from autoconv.runtime.objects.symbolic_objects import apply_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_CONVERSIONS: dict[str, Any] = {"r": repr, "s": str, "a": ascii}


def text(*parts: Any) -> Any:
    """Format the parts and concatenate them: an f-string."""
    if current_region() is None:
        return "".join([part if type(part) is str else format(part) for part in parts])
    result: Any = ""
    for part in parts:
        piece = format_value(part, "")
        result = piece if isinstance(result, str) and not result else result + piece
    return result


def format_value(value: object, spec: Any, conversion: str = "") -> Any:
    """`f'{value!conversion:spec}'`"""
    if not _is_formatted_at_run_time(value, spec):
        return format(_CONVERSIONS[conversion](value) if conversion else value, spec)
    if type(value) is Variant or type(spec) is Variant:
        return distribute(lambda known, known_spec: format_value(known, known_spec, conversion), value, spec)
    converted_value = graph_call(_CONVERSIONS[conversion], (value,), {}) if conversion else value
    return apply_object("format", converted_value, spec)


def percent(template: Any, values: object) -> Any:
    """`template % values`, where the template is most likely a string."""
    if not isinstance(template, (str, bytes)) or not _is_formatted_at_run_time(values):
        return template % values
    if type(values) is Variant:
        return distribute(lambda arm: percent(template, arm), values)
    # Other tensors stand for NumPy arrays, which `%` may take as several values.
    is_number = isinstance(values, SymbolicTensor) and values.weak
    return apply_object("mod", template, (values,) if is_number else values)


def ipercent(template: Any, values: object) -> Any:
    """Compute `template %= values`; the template may be a string."""
    return percent(template, values) if isinstance(template, (str, bytes)) else augment_modulo(template, values)


def _percent_method(text_class: Any) -> Any:
    """Return the replacement of `str.__mod__` or `bytes.__mod__`, which the program calls by that name."""
    python_operator = text_class.__mod__
    return lambda template, values: (percent if isinstance(template, text_class) else python_operator)(template, values)


for _functions in (STATEMENT_OVERRIDES, OVERRIDES):
    _functions.update({operator.mod: percent, operator.imod: ipercent})
    _functions.update({str.__mod__: _percent_method(str), bytes.__mod__: _percent_method(bytes)})


def _is_formatted_at_run_time(*values: Any) -> bool:
    """Return whether formatting has to wait for run time: under `compile`, for values known only then."""
    region = current_region()
    if region is None or not region.contract.objects_in_graph:
        return False
    return any(map(_has_text_at_run_time_only, values))


def _has_text_at_run_time_only(value: object) -> bool:
    if type(value) in (DictView, Variant, SymbolicArray, StagedRange) or isinstance(value, SymbolicTensor):
        return True
    if has_graph_object(value) or is_rebuilt(value) or holds_created_objects(value):
        return True
    return isinstance(value, (tuple, list, dict)) and holds_symbols(value)
