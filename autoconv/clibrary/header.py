"""The C header of a library."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from autoconv.backends.library_form import Argument, Fields, LibraryForm, Output, ResultTree
from autoconv.clibrary.interface import C_TYPE_BY_NAME, Interface
from autoconv.graph.dtypes import DType

_MAX_LISTED_ELEMENTS = 64  # the header lists the elements of a variable if it has at most so many
_LISTED_DTYPES = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
})  # fmt: skip
_COMPLEX_PART_TYPES = {"complex64": "float", "complex128": "double"}


def header_text(interface: Interface, messages: Sequence[str]) -> str:
    """Return the header: types, the function with its conditions, and the messages of its error codes."""
    form = interface.form
    guard = f"{form.name.upper()}_H"
    arguments = [argument for argument in form.parameters if isinstance(argument, Argument)]
    tensor_kinds = [(argument.dtype, len(argument.shape)) for argument in arguments] + list(_output_types(form.result))
    parts = [
        _leading_comment(interface, arguments),
        f"#ifndef {guard}\n#define {guard}\n",
        "#include <stdbool.h>\n#include <stdint.h>\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        *(_complex_type(name) for name in _COMPLEX_PART_TYPES if any(dtype.name == name for dtype, _ in tensor_kinds)),
        *(_tensor_struct(dtype, rank) for dtype, rank in dict.fromkeys(tensor_kinds) if rank),
        _result_struct(form),
        *(_initial_elements(form, argument, array) for argument, array in interface.initial_values),
        _function_declaration(form, arguments),
        _message_comment(messages),
        f"const char *{form.name}_message(int code);\n",
        "/* Frees the data of a tensor of a result. */",
        f"void {form.name}_free(void *data);\n",
        "#ifdef __cplusplus\n}\n#endif\n",
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(parts)


def _leading_comment(interface: Interface, arguments: Sequence[Argument]) -> str:
    """Return the comment on the function: its source, the names of open sizes, and its constant results."""
    lines = [f"{interface.form.name}: compiled by autoconv{' from ' + interface.source if interface.source else ''}."]
    size_names = sorted({str(size) for argument in arguments for size in argument.shape if not isinstance(size, int)})
    if size_names:
        lines.append(f"{', '.join(size_names)}: sizes of the call; those of one name are equal.")
    lines += [f"{name} is always {value}, and no field of the result." for name, value in interface.constants]
    lines.append("Several threads may call the function at the same time.")
    return "/* " + "\n   ".join(line.replace("*/", "* /") for line in lines) + " */"


def _complex_type(name: str) -> str:
    """Return the struct of a complex dtype."""
    part = _COMPLEX_PART_TYPES[name]
    guard = f"AUTOCONV_{name.upper()}"
    return (
        f"#ifndef {guard}\n#define {guard}\n/* In memory as {part} _Complex, and std::complex<{part}>. */\n"
        f"typedef struct autoconv_{name} {{\n    {part} real;\n    {part} imag;\n}} autoconv_{name};\n#endif\n"
    )


def _tensor_struct(dtype: DType, rank: int) -> str:
    """Return the struct of tensors of a dtype and rank, and the C function that fills it for contiguous elements."""
    name, c_type = tensor_type(dtype, rank), C_TYPE_BY_NAME[dtype.name]
    guard = name.upper()
    sizes = [f"n{axis}" for axis in range(rank)]
    strides = ", ".join(
        " * ".join([*(f"{size}" for size in sizes[axis + 1 :]), f"(int64_t)sizeof({c_type})"]) for axis in range(rank)
    )
    bits_note = " The numbers are the bits of a half." if dtype.name == "float16" else ""
    bits_note = " The numbers are the upper bits of a float." if dtype.name == "bfloat16" else bits_note
    offset = " + ".join(f"{letter} * strides[{axis}]" for axis, letter in enumerate("ijklmnopqrstuvw"[:rank]))
    return "\n".join([
        f"#ifndef {guard}", f"#define {guard}",
        f"/* {dtype.name}, rank {rank}: an element is at (char *)data + {offset}.{bits_note} */",
        f"typedef struct {name} {{", f"    {c_type} *data;", f"    int64_t shape[{rank}];",
        f"    int64_t strides[{rank}]; /* in bytes */", f"}} {name};", "",
        "/* A tensor whose elements lie side by side, the last index running fastest. */",
        f"static inline {name} {name}_of({c_type} *data, {', '.join(f'int64_t {size}' for size in sizes)}) {{",
        f"    {name} tensor = {{data, {{{', '.join(sizes)}}}, {{{strides}}}}};", "    return tensor;", "}",
        "#endif", "",
    ])  # fmt: skip


def _initial_elements(form: LibraryForm, argument: Argument, array: np.ndarray) -> str:
    """Return a C array of the elements that a variable had when the library was built, or only a comment.

    Many elements, and those that C has no literals for, are not listed.
    """
    name = f"{form.name}_{argument.name}_start"
    if array.size > _MAX_LISTED_ELEMENTS or argument.dtype.name not in _LISTED_DTYPES:
        return f"/* {argument.name} is a variable, which the caller holds. */\n"
    numbers = ", ".join(_c_literal(number) for number in array.reshape(-1).tolist())
    element_type = C_TYPE_BY_NAME[argument.dtype.name]
    return (
        f"/* {argument.name} is a variable, which the caller holds: it begins with these elements. */\n"
        f"static const {element_type} {name}[{max(array.size, 1)}] = {{{numbers or 0}}};\n"
    )


def _c_literal(value: float) -> str:
    """Return a bool, int or float as an expression of C."""
    if isinstance(value, float) and not math.isfinite(value):
        return "0.0 / 0.0" if math.isnan(value) else f"{'-' if value < 0 else ''}1.0 / 0.0"
    return str(value).lower() if value != -(2**63) else "(-9223372036854775807 - 1)"


def _result_struct(form: LibraryForm) -> str:
    """Return the struct of the results."""
    lines = ["/* The results. The caller frees the data of each tensor. */"]
    lines += [f"typedef struct {form.name}_result {{", *_struct_fields(form.result, 1), f"}} {form.name}_result;\n"]
    return "\n".join(lines)


def _struct_fields(tree: Fields, depth: int) -> list[str]:
    """Return the lines of the fields of a struct, indented by `depth` levels."""
    indent, lines = "    " * depth, []
    for name, field in tree.fields:
        if isinstance(field, Fields):
            lines += [f"{indent}struct {{", *_struct_fields(field, depth + 1), f"{indent}}} {name};"]
        else:
            c_type = tensor_type(field.dtype, field.rank) if field.rank else C_TYPE_BY_NAME[field.dtype.name]
            lines.append(f"{indent}{c_type} {name};")
    return lines or [f"{indent}char nothing;"]


def _function_declaration(form: LibraryForm, arguments: Sequence[Argument]) -> str:
    """Return the declaration of the function, with a comment on the shapes of its arguments."""
    notes = []
    for argument in arguments:
        shape = f"[{', '.join(map(str, argument.shape))}]"
        if argument.shape:
            notes.append(f"{argument.name}: {shape}{', written to' if argument.may_be_written else ''}")
    declarations = [_parameter_declaration(argument) for argument in arguments]
    notes_text = "; ".join(notes)
    comment = f"/* Returns 0, or a code of {form.name}_message{' with an unset result' if form.result.fields else ''}."
    comment += f"\n   {notes_text}. */" if notes_text else " */"
    return f"{comment}\nint {form.name}({', '.join([*declarations, f'{form.name}_result *result'])});\n"


def _parameter_declaration(argument: Argument) -> str:
    """Return a parameter: a number, or a pointer to a number or a tensor."""
    c_type = C_TYPE_BY_NAME[argument.dtype.name]
    if argument.is_passed_by_value:
        return f"{c_type} {argument.name}"
    if argument.shape:
        c_type = tensor_type(argument.dtype, len(argument.shape))
    return f"{'' if argument.may_be_written else 'const '}{c_type} *{argument.name}"


def _message_comment(messages: Sequence[str]) -> str:
    """Return the comment with the messages of the error codes."""
    lines = ["/* The text of a code, which lives as long as the library:"]
    lines += [f"   {code:3} {message.replace('*/', '* /')}" for code, message in enumerate(messages, 1)]
    return "\n".join(lines) + " */"


def _output_types(tree: ResultTree) -> list[tuple[DType, int]]:
    """Return the dtype and rank of each tensor of the results."""
    if isinstance(tree, Output):
        return [(tree.dtype, tree.rank)]
    return [output_type for _, part in tree.fields for output_type in _output_types(part)]


def tensor_type(dtype: DType, rank: int) -> str:
    """Return the name of the struct of tensors of a dtype and rank."""
    return f"autoconv_{dtype.name}_{rank}"
