"""Write and delete attributes in converted code."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.shared_identity import refuse_change
from autoconv.operators.support.class_attributes import register_inherited_write
from autoconv.operators.support.optional_attributes import check_presence_on_read
from autoconv.operators.values.instances import has_user_descriptor, refuse_hook
from autoconv.runtime.arrays.members import set_array_attribute
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.symbolic_objects import (
    SymbolicObject,
    constant_object,
    graph_object,
    record_object,
)
from autoconv.runtime.recording.journal import attribute_location
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import has_dict
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def set_attr(owner: object, attribute: str, value: object) -> None:
    """Run `owner.attribute = value`, with an entry in the journal while a region is traced."""
    region = current_region()
    if region is None:
        setattr(owner, attribute, value)
        return
    if type(owner) is Variant:
        distribute(lambda arm: set_attr(arm, attribute, value), owner)
        return
    if type(owner) is SymbolicObject:
        record_object("object_set_attribute", [owner, value], name=attribute)
        return
    if type(owner) is SymbolicArray:
        set_array_attribute(owner, attribute, value)
        return
    if isinstance(owner, SymbolicTensor) and region.trace.uses_arrays and hasattr(np.ndarray, attribute):
        region.contract.require_original(owner, f"the attribute {attribute!r} of an array is assigned")
    refuse_hook(owner, "__setattr__")
    register_inherited_write(region.trace, owner, attribute)
    if has_user_descriptor(owner, attribute):
        setattr(owner, attribute, value)
        return
    heap = graph_object(owner)
    if heap is not None:
        check_presence_on_read(region, owner, attribute)
        record_object("object_set_attribute", [heap, value], name=attribute)
        return
    record_attribute_change(owner, attribute)
    # `o.w += x` has changed the array in place, so that the graph has nothing to store.
    is_stored = type(value) is SymbolicArray and getattr(owner, "__dict__", {}).get(attribute) is value
    setattr(owner, attribute, value)
    if _needs_graph_write(region, owner) and not is_stored:
        record_object("object_set_attribute", [constant_object(owner), value], name=attribute)


def _needs_graph_write(region: Any, owner: object) -> bool:
    """Return whether a write has to happen when the graph runs: to an object that existed before the trace."""
    created_objects = region.trace.created_objects
    return region.contract.effects_each_call and created_objects is not None and id(owner) not in created_objects


def del_attr(owner: object, attribute: str) -> None:
    """Run `del owner.attribute`, with an entry in the journal while a region is traced."""
    region = current_region()
    if region is None:
        delattr(owner, attribute)
        return
    if type(owner) is Variant:
        distribute(lambda arm: del_attr(arm, attribute), owner)
        return
    if type(owner) is SymbolicObject:
        record_object("object_delete_attribute", [owner], name=attribute)
        return
    refuse_hook(owner, "__delattr__")
    if has_user_descriptor(owner, attribute):
        delattr(owner, attribute)
        return
    heap = graph_object(owner)
    if heap is not None:
        record_object("object_delete_attribute", [heap], name=attribute)
        return
    record_attribute_change(owner, attribute)
    delattr(owner, attribute)
    if _needs_graph_write(region, owner):
        record_object("object_delete_attribute", [constant_object(owner)], name=attribute)


def record_attribute_change(owner: object, attribute: str) -> None:
    """Record in the journal, and with the contract, that an attribute is about to change."""
    region = current_region()
    assert region is not None
    if not has_dict(owner) and not hasattr(type(owner), attribute):
        return  # Python raises its own error
    if id(owner) in region.trace.frozen_objects:
        refuse_change(owner, attribute)
    if region.journal is not None:
        created_objects = region.trace.created_objects
        _, creating_region = (created_objects or {}).get(id(owner), (None, None))
        region.journal.record(attribute_location(owner, attribute, creating_region))
    if region.contract.effects_each_call:
        message = f"the attribute {attribute!r} of {with_article(type(owner))} is written"
        region.contract.require_original(owner, message, [attribute_location(owner, attribute)])
