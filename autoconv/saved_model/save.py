"""`save`: write an object with its variables, and its functions as graphs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.support.composite_structures import expand_specs
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flatten, pack
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.saved_model.assets import Asset
from autoconv.saved_model.layout import write_folder
from autoconv.saved_model.loaded_function import LoadedFunction
from autoconv.saved_model.objects import FUNCTION_CLASSES, collect_objects, functions_of
from autoconv.saved_model.options import SaveOptions
from autoconv.saved_model.structures import NotStorable, encode
from autoconv.saved_model.traces import TraceWriter, mark_replaying
from autoconv.tracing.api.decorators import function
from autoconv.tracing.api.function import Function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.train.object_graph import is_trackable

_DEFAULT_SIGNATURE = "serving_default"


def save(
    obj: Any, export_dir: str | os.PathLike[str], signatures: Any = None, options: SaveOptions | None = None
) -> None:
    """Write an object to a folder: its variables, the objects that it owns, and the traces of its functions.

    Existing traces are saved; a function with an `input_signature` is traced if it has no trace. `signatures` is a
    function or a dict of functions, which take tensors by name and return a tensor or a dict of them. By default, the
    signature "serving_default" is the object's only function that has one trace, and either an `input_signature` or
    been returned by `get_concrete_function`. Classes and Python code are not saved. An older save stays in the folder
    until the new one is complete.

    Raises ValueError for an object that owns nothing to save, or for a signature without a trace. Raises AssertionError
    for a function that uses a variable that the object does not own, and AutoconvError for a function that no file can
    hold.

    >>> import tempfile
    >>> module = autoconv.Module()
    >>> module.v = autoconv.Variable(2.0)
    >>> module.scaled = autoconv.function(lambda x: x * module.v, input_signature=[autoconv.TensorSpec([None])])
    >>> folder = tempfile.mkdtemp()
    >>> autoconv.saved_model.save(module, folder)
    >>> autoconv.saved_model.load(folder).scaled([1.0, 2.0]).numpy()
    array([2., 4.], dtype=float32)
    """
    if not is_trackable(obj) and not functions_of(obj):
        remedy = " A function by itself is saved by save_function." if isinstance(obj, FUNCTION_CLASSES) else ""
        raise ValueError(
            f"Expected an object with variables or functions, such as a Module, for export. Got {obj!r}.{remedy}"
        )
    with recording(region=None):
        content = make_content(obj, signatures, options or SaveOptions())
        writer = content.writer
        write_folder(os.fspath(export_dir), content.index_values, writer.graphs, writer.arrays, content.asset_paths)


class SavedContent(NamedTuple):
    """The content of a saved object."""

    index_values: dict[str, Any]  # the index file as JSON values
    writer: TraceWriter  # has the graphs and arrays
    asset_paths: list[str]


def make_content(root: object, signatures: Any, options: SaveOptions) -> SavedContent:
    """Return the content to save for the object `root` and all objects that it owns."""
    objects, part_numbers_of_objects = collect_objects(root)
    number_by_id = {id(value): number for number, value in enumerate(objects)}
    for number, value in enumerate(objects):
        if isinstance(value, Variable):
            for copy in getattr(value, "values", (value,)):  # the copies of other replicas stand for the same variable
                number_by_id[id(copy.storage)] = number
        elif isinstance(value, Asset):
            number_by_id[id(value.asset_path)] = number

    def number_of(capture: Any) -> int | None:
        return number_by_id.get(id(capture))

    writer = TraceWriter(number_of)
    assets: list[str] = []
    nodes = []
    for number, (value, part_numbers) in enumerate(zip(objects, part_numbers_of_objects, strict=True)):
        nodes.append({**_object_record(value, number, writer, assets), "parts": part_numbers})
    records = {
        name: _signature_record(name, value, writer) for name, value in _signatures_by_name(root, signatures).items()
    }
    aliases = {name: _alias_number(name, value, number_by_id) for name, value in options.function_aliases.items()}
    index = {"nodes": nodes, "signatures": records, "signature_order": list(records), "aliases": aliases}
    return SavedContent(index, writer, assets)


def _alias_number(name: str, value: object, number_by_id: Mapping[int, int]) -> int:
    """Return the number of the function that an alias names; raises ValueError for other values."""
    if not isinstance(value, FUNCTION_CLASSES) or id(value) not in number_by_id:
        raise ValueError(f"The alias {name!r} names {value!r}, which is no function of the saved object.")
    return number_by_id[id(value)]


def _object_record(value: object, number: int, writer: TraceWriter, assets: list[str]) -> dict[str, Any]:
    """Return one object as JSON values, without its parts."""
    if isinstance(value, Variable):
        key = f"variable/{number}"
        writer.arrays[key] = value.storage.value
        shape = value.shape.as_list() if value.shape.rank is not None else None
        return {
            "kind": "variable",
            "array": key,
            "name": value.storage.name,
            "trainable": value.trainable,
            "shape": shape,
        }
    if isinstance(value, Asset):
        assets.append(os.fsdecode(value.asset_path.numpy()))
        return {"kind": "asset", "asset": len(assets) - 1}
    if isinstance(value, LoadedFunction):
        traces = [writer.write(trace) for trace in value.concrete_functions]
        has_declared_types = value.has_declared_types
        return {
            "kind": "function", "name": value.__name__, "parameters": value.parameters, "traces": traces,
            "declared": has_declared_types,
        }  # fmt: skip
    if isinstance(value, Function):
        return {"kind": "function", **_function_record(value, writer)}
    if isinstance(value, ConcreteFunction):
        return {"kind": "function", "name": value.recorded.name, "parameters": None, "traces": [writer.write(value)]}
    if isinstance(value, dict):
        return {"kind": "dict"}
    if isinstance(value, (list, tuple)):
        return {"kind": "tuple" if isinstance(value, tuple) else "list", "length": len(value)}
    return {"kind": "object", "class": type(value).__name__}


def _function_record(value: Function[..., Any], writer: TraceWriter) -> dict[str, Any]:
    """Return a function as JSON values: its name, parameters and traces."""
    parameters = []
    for name, parameter in value.function_spec.python_signature.parameters.items():
        record: dict[str, Any] = {"name": name, "kind": parameter.kind.name}
        if parameter.default is not inspect.Parameter.empty:
            try:
                record["default"] = encode(parameter.default)
            except NotStorable:
                record["default"] = None  # no file can hold it: the loaded function has the default None
        parameters.append(record)
    traces = [writer.write(trace) for trace in value._list_all_concrete_functions_for_serialization()]
    has_signature = value.input_signature is not None
    return {"name": value.name, "parameters": parameters, "traces": traces, "declared": has_signature}


def _signatures_by_name(root: object, signatures: Any) -> Mapping[str, Any]:
    """Return the signatures by name: `signatures`, or without them the only function that can be the default one."""
    if signatures is None:
        functions = functions_of(root)
        keras_function = getattr(root, "_default_save_signature", None)  # of Keras' models
        # Concrete and loaded functions have no attribute `input_signature`; they are candidates too.
        candidates = [value for value in functions.values() if getattr(value, "input_signature", ()) is not None]
        defaults = [value for value in candidates if _only_trace(value) is not None and _has_named_results(value)]
        default = defaults[0] if len(defaults) == 1 else None
        if _has_one_trace(keras_function):
            default = keras_function
        return {} if default is None else {_DEFAULT_SIGNATURE: default}
    if not isinstance(signatures, Mapping):
        return {_DEFAULT_SIGNATURE: signatures}
    return signatures


def _has_one_trace(value: Any) -> bool:
    """Return whether the value is a function of one trace; a missing trace is made if there is an `input_signature`."""
    try:
        return isinstance(value, FUNCTION_CLASSES) and _only_trace(value) is not None
    except TypeError:  # the signature does not fit the function
        return False


def _only_trace(value: Any) -> ConcreteFunction | None:
    """Return the only trace of a function; None for several or none."""
    if isinstance(value, ConcreteFunction):
        return value
    if isinstance(value, LoadedFunction):
        return value.concrete_functions[0] if len(value.traces) == 1 else None
    if value.contract != "function":
        return None
    functions = value._list_all_concrete_functions_for_serialization()
    return functions[0] if len(functions) == 1 else None


def _has_named_results(value: object) -> bool:
    """Return whether a function of one trace returns tensors that have names or positions, as a signature must."""
    try:
        _named_results("", _only_trace(value).symbolic_outputs)  # type: ignore[union-attr]
    except ValueError:
        return False
    return True


def _signature_record(name: str, value: Any, writer: TraceWriter) -> dict[str, Any]:
    """Return a signature as JSON values: a trace that takes tensors by keyword and returns a dict."""
    if not isinstance(value, FUNCTION_CLASSES):
        raise ValueError(f"Expected a function or a dict of functions as signatures; {name!r} is {value!r}.")
    concrete_function = _only_trace(value)
    if concrete_function is None:
        raise ValueError(
            f"The signature {name!r} needs a function of one trace: give the function an input_signature, or pass "
            f"its get_concrete_function(…)."
        )
    leaves, template = expand_specs(*flatten(concrete_function.structured_input_signature))
    specs: dict[str, TensorSpec] = {}
    for spec in leaves:
        if isinstance(spec, TensorSpec):
            specs[spec.name or f"arg_{len(specs)}"] = spec

    def call(tensors: Mapping[str, Any]) -> Any:
        values = (tensors[name] for name in specs)
        argument_leaves = [next(values) if isinstance(leaf, TensorSpec) else leaf for leaf in leaves]
        args, kwargs = pack(template, argument_leaves)
        return concrete_function(*args, **kwargs)

    signature = function(_keyword_function(call, name), autograph=False)
    return writer.write(signature.get_concrete_function(**specs))


def _keyword_function(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function of keywords that returns the results of `call(tensors)` by name."""
    def call_by_keyword(**tensors: Any) -> Any:
        return _named_results(name, call(tensors))

    return mark_replaying(call_by_keyword, f"signature_wrapper_{name}" if name.isidentifier() else "signature_wrapper")


def _named_results(name: str, results: Any) -> dict[str, Any]:
    """Return the results of a signature by name: output_0, output_1, … where they have none."""
    if isinstance(results, Mapping):
        results_by_name = dict(results)
    elif isinstance(results, (list, tuple)):
        results_by_name = {f"output_{i}": result for i, result in enumerate(results)}
    else:
        results_by_name = {"output_0": results}
    for key, result in results_by_name.items():
        if not isinstance(key, str) or not isinstance(result, SymbolicTensor):
            raise ValueError(
                f"Got a dictionary or list with {result!r} as the result of signature {name!r}; signatures return "
                f"tensors, in a dict with names or a list."
            )
    return results_by_name
