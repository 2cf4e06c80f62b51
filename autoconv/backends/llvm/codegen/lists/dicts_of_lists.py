"""Lower typed dicts of lists: an entry has the position of its list in a Python list of typed lists."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.hashed import find_key, keys_of
from autoconv.backends.llvm.codegen.lists.typed import TypedList, append_item
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.ops.lists.item_layout import fields


def _write_append(region: LoweringContext, node: Node, entry_list: TypedList, list_: str) -> None:
    """Append a list to the Python list of lists, and an entry for it."""
    out, lists = region.out, region.object(node.inputs[2]).ir
    position = out.load("i64", out.gep("i8", lists, abi.LIST_COUNT))
    status = out.call_c("PyList_Append", "i32", "ptr, ptr", lists, list_)
    region.body.fail_if(out.icmp("ne", status, 0))
    numbers = [region.number(value) for value in node.inputs[3 : 3 + len(fields(keys_of(node)))]]
    append_item(region, entry_list, [*numbers, RegisterWriter(region).wrap(int64, position)])


def _address_of_list(region: LoweringContext, node: Node, entry_list: TypedList, position: str) -> str:
    """Return the address at which the list of lists has the list of an entry."""
    out, lists = region.out, region.object(node.inputs[2]).ir
    *_, row = entry_list.load(position)
    return out.gep("ptr", out.load("ptr", out.gep("i8", lists, abi.LIST_ITEMS)), row.ir)


@data_sized_lowering("typed_dict_list")
def _write_list(region: LoweringContext, node: Node) -> None:
    """Write the read of the list of a key, or of the default, or of a new list, which may be inserted."""
    out = region.out
    entries, _, position = find_key(region, node, key_start=3)
    default = node.inputs[3 + len(fields(keys_of(node))) :]
    inserts = node.attributes["inserts"]
    if not default and not inserts:
        region.raise_and_leave_if(node, out.icmp("slt", position, 0))

    def load_list() -> str:
        result = out.load("ptr", _address_of_list(region, node, entries, position))
        out.call("retain", result)
        return result

    def make_list() -> str:
        """Return the default or a new list, which the dict may get."""
        if default:
            result = region.object(default[0]).ir
            out.call("retain", result)
        else:
            result = out.call_c("PyByteArray_FromStringAndSize", "ptr", "ptr, i64", "null", 0)
            region.body.fail_if(out.is_null(result))
        if inserts:
            _write_append(region, node, entries, result)
        return result

    has_other = bool(default) or inserts
    list_ = out.either(out.icmp("sge", position, 0), load_list, make_list) if has_other else load_list()
    region.set(node.results[0], region.body.own_reference(list_))


@data_sized_lowering("typed_dict_set_list")
def _write_set_list(region: LoweringContext, node: Node) -> None:
    """Write the store of a list as the value of a key."""
    out = region.out
    entries, _, position = find_key(region, node, key_start=3)
    list_ = region.object(node.inputs[-1]).ir

    def replace() -> None:
        address = _address_of_list(region, node, entries, position)
        out.call("retain", list_)
        out.call("release", address)
        out.store("ptr", list_, address)

    out.either(out.icmp("sge", position, 0), replace, lambda: _write_append(region, node, entries, list_))
