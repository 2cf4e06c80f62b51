"""The probe of element rules has the results of the rules that write code."""

from itertools import product

from autoconv.backends.llvm.analysis.element_probe import ElementProbe
from autoconv.backends.llvm.ir.element_rules import compute
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.scalars import ElementWriter
from autoconv.graph.dtypes import as_dtype
from autoconv.ops import OPS
from autoconv.ops.elements import ELEMENTS

DTYPES = [as_dtype(name) for name in ("bool", "int32", "int64", "uint8", "float32", "float64", "float16")]


class RecordingWriter(ElementWriter):
    avoids_library_calls = True

    def __init__(self, out):
        super().__init__(out)
        self.is_rare = self.fails = False

    def fail_if(self, condition):
        self.fails = True

    raise_if = fail_if

    def mark_rare(self, condition):
        self.is_rare = True


def result_of_writing(name, operands, dtype, attributes):
    """Return the result dtype, `is_rare` and `fails` of a rule that writes code."""
    b = RecordingWriter(FunctionText(ModuleText()))
    found = compute(b, name, [b.wrap(operand, f"%{i}") for i, operand in enumerate(operands)], dtype, attributes)
    return (None if found is None else found.dtype), b.is_rare, b.fails


def test_the_probe_agrees_with_the_writer():
    compared = 0
    for name in ELEMENTS.keys() & OPS.keys():
        for sample in OPS[name].samples[:1]:
            for operands in product(DTYPES, repeat=min(len(sample.inputs), 3)):
                try:
                    expected = result_of_writing(name, operands, operands[0], sample.attributes)
                except (KeyError, TypeError, AttributeError, ValueError, OverflowError):  # an unsupported dtype
                    continue
                probe = ElementProbe()
                found = probe.result(name, list(operands), operands[0], sample.attributes)
                assert (found, probe.is_rare, probe.fails) == expected, (name, operands)
                compared += 1
    assert compared > 2000
