"""Lists and dicts of arguments that a graph receives in addition to their contents, because traced code changes them.

The contents are leaves of their own; each container is a further leaf, an object of the graph. The graph stores
changed items in it, and returns it where the function does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from autoconv.runtime.support.structure import Template, flatten, loses_state
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import LeafKey, TensorKey, make_object_key
from autoconv.tracing.key.call import Call


def add_containers(call: Call, names: Collection[str]) -> None:
    """Append the containers of the arguments `names` to the leaves and to the key; skip arguments that are one leaf."""
    templates = call.key.templates
    written_templates = [(name, template) for name, template in templates if name in names and template is not None]
    if not written_templates:
        return
    leaf_keys = list(call.key.leaves)
    for name, template in written_templates:
        containers = list(containers_by_template(call.arguments[name], template))
        call.leaves += containers
        call.names += [name] * len(containers)
        leaf_keys += map(make_object_key, containers)
    written_names = tuple(name for name, _ in written_templates)
    call.key = replace(call.key, leaves=tuple(leaf_keys), written_arguments=written_names)


def can_add_containers(call: Call, name: str) -> bool:
    """Return whether the containers of the argument `name` may become leaves.

    The argument has to consist of lists, dicts and tuples. It has to have an array in them, or a dict without items,
    which calls may fill with arrays.
    """
    for (argument, template), leaf_slice in zip(call.key.templates, call.key.leaf_slices(), strict=True):
        if argument == name:
            if template is None or name in call.key.written_arguments or not consists_of_builtins(template):
                return False
            _, argument_template = flatten(call.arguments.get(name), loses_state)
            if argument_template != template:  # `name` is that of an item of `**kwargs`, which `arguments` has not
                return False
            return holds_arrays(call.key.leaves[leaf_slice]) or has_empty_dict(template)
    return False


def holds_arrays(leaf_keys: Sequence[LeafKey]) -> bool:
    """Return whether one of the leaves is a NumPy array of the caller, with at least one dimension."""
    return any(
        isinstance(key, ArrayKey) or (isinstance(key, TensorKey) and key.is_of_array and key.type.shape != ())
        for key in leaf_keys
    )


def has_empty_dict(template: Template | None) -> bool:
    """Return whether a structure contains a dict without items, which calls may fill with arrays."""
    return template is not None and (template.keys == () or any(map(has_empty_dict, template.children)))


def consists_of_builtins(template: Template | None) -> bool:
    """Return whether a structure consists of lists, dicts and tuples."""
    if template is None:
        return True
    return template.kind in (list, dict, tuple) and all(map(consists_of_builtins, template.children))


def containers_by_template(value: Any, template: Template) -> Iterator[Any]:
    """Yield the lists and dicts at the positions of a template of lists, dicts and tuples, each before its parts."""
    if template.kind is not tuple:
        yield value
    keys = range(len(template.children)) if template.keys is None else template.keys
    for key, child in zip(keys, template.children, strict=True):
        yield from () if child is None else containers_by_template(value[key], child)
