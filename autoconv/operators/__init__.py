"""Runtime support for converted code, which calls it as `ag__`: Python semantics on plain values, graphs on tensors."""

from __future__ import annotations

from autoconv.errors import ItemAssignmentError
from autoconv.operators.calls.call import call, call_untraced, do_not_convert
from autoconv.operators.calls.classes import class_of, class_statement
from autoconv.operators.calls.comprehensions import dict_of, generator, list_of, nested_clause, set_of
from autoconv.operators.calls.displays import SPREAD, new, new_dict, new_set, spread, spread_in_set, unpack_target
from autoconv.operators.calls.formatted_text import format_value, ipercent, percent, text
from autoconv.operators.calls.formatted_text import ipercent as imod
from autoconv.operators.calls.in_place_operators import (
    iadd,
    iand,
    ifloordiv,
    ilshift,
    imatmul,
    imul,
    ior,
    ipow,
    irshift,
    isub,
    itruediv,
    ixor,
)
from autoconv.operators.calls.match_patterns import is_instance, is_mapping, is_sequence, match_argument, rest_of
from autoconv.operators.calls.try_statements import (
    as_cause,
    as_exception,
    attempts,
    begin,
    caught_classes,
    check_watched,
    end,
    exception,
    make_exception,
    managed_context,
    unwinding_classes,
    watch,
    watch_iteration,
    watched_classes,
    with_attempts,
)
from autoconv.operators.control import variants as _variants  # registers the operators of variants
from autoconv.operators.control.conditionals import (
    and_,
    assertion,
    if_exp,
    if_stmt,
    not_,
    operand,
    or_,
    switch_stmt,
    test,
)
from autoconv.operators.control.exception_groups import exception_to_raise, split_group
from autoconv.operators.control.loops import for_stmt, iterate, while_stmt
from autoconv.operators.support.converted_modules import module
from autoconv.operators.support.protected_names import (
    BREAK,
    CONTINUE,
    NORMAL,
    RETURN,
    Undefined,
    after_loop,
    deleted_name,
    exits_loop,
    is_exhausted,
    ld,
    ld_inlined,
    ld_outer,
    let,
    no_exit,
    returned_value,
    users_names,
)
from autoconv.operators.support.traceback_filter import (
    hide_frames,
    hide_frames_1,
    hide_frames_2,
    hide_frames_3,
    hide_frames_of_branch,
    hide_frames_of_logic,
    hide_frames_of_loop,
)
from autoconv.operators.values import list_methods as _list_methods  # registers the methods of graph lists
from autoconv.operators.values import ordering as _ordering
from autoconv.operators.values import set_operators as _set_operators
from autoconv.operators.values.attributes import del_attr, set_attr
from autoconv.operators.values.builtins import is_builtin
from autoconv.operators.values.comparisons import eq, ge, gt, is_, is_not, le, lt, ne
from autoconv.operators.values.items import (
    augment_item_of,
    changed_part,
    context,
    del_item,
    get_item,
    local_cells,
    outer_names,
    set_item,
    set_item_in,
    set_item_of,
    slice,
)
from autoconv.operators.values.membership import in_, not_in
from autoconv.runtime.recording.activity import register_listener

# `call`, `bitand`, `bitor`, `bitxor` and `sub` have cheaper versions, which apply while no thread traces.
_TRACED_SET_OPERATORS = {
    _name: hide_frames_2(getattr(_set_operators, _name)) for _name in _set_operators.PYTHON_FUNCTION_BY_OPERATOR
}
_TRACED = {"call": call, **_TRACED_SET_OPERATORS}
_UNTRACED = {"call": call_untraced, **_set_operators.PYTHON_FUNCTION_BY_OPERATOR}
bitand, bitor, bitxor, sub = (
    _set_operators.PYTHON_FUNCTION_BY_OPERATOR[_name] for _name in ("bitand", "bitor", "bitxor", "sub")
)
untraced: object = True


def _set_untraced(new_flag: object) -> None:
    """Set `untraced`: True while no thread traces, else an object whose truth each thread has for itself."""
    global untraced
    untraced = new_flag
    globals().update(_UNTRACED if new_flag is True else _TRACED)


register_listener(_set_untraced)

__module__ = __name__  # for code that reads `__module__` of everything in its namespace

# Operators that may raise on plain values, by the wrapper that removes their frames from the traceback.
_NAMES_BY_WRAPPER = {
    hide_frames_1: "class_of ld ld_outer ld_inlined not_ spread_in_set",
    hide_frames_2: (
        "eq ne lt le gt ge get_item del_item del_attr in_ not_in unpack_target percent "
        "iadd isub imul imatmul itruediv ifloordiv imod ipercent ipow ilshift irshift iand ior ixor"
    ),
    hide_frames_3: "if_exp set_item set_item_in set_attr",
    hide_frames_of_logic: "and_ or_",
    hide_frames_of_branch: "if_stmt switch_stmt",
    hide_frames_of_loop: "while_stmt for_stmt",
    hide_frames: (
        "make_exception list_of set_of dict_of generator assertion set_item_of augment_item_of new_set new_dict text "
        "format_value"
    ),
}
for _wrapper, _names in _NAMES_BY_WRAPPER.items():
    globals().update({_name: _wrapper(globals()[_name]) for _name in _names.split()})
