"""Objects of subclasses of abstract classes are made in graphs as those of other classes are."""

import abc

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


class Kernel(abc.ABC):
    scale = 1.0

    def __init__(self, length):
        self.length = length

    @abc.abstractmethod
    def __call__(self, x): ...

    def __add__(self, other):
        return Sum(self, other)

    @property
    def variance(self):
        return self.scale**2


class Gaussian(Kernel):
    def __call__(self, x):
        return self.variance * np.exp(-x * x / self.length)


class Wide(Gaussian):
    scale = 3.0


class Sum(Kernel):
    def __init__(self, left, right):
        super().__init__(left.length)
        self.left, self.right = left, right

    def __call__(self, x):
        return self.left(x) + self.right(x)


def summed(x, length):
    kernel = Gaussian(length) + Wide(2 * length)
    return kernel(x), isinstance(kernel, Kernel), isinstance(kernel.left, Sum), kernel.length


def returned(x, length):
    kernels = [Gaussian(length), Wide(length)]
    if length > 1:
        kernels[0].length = length * 2
    return kernels[0].length, kernels[1](x), type(kernels[1]) is Wide


def abstract(x, length):
    return Kernel(length)(x)


@pytest.mark.parametrize("program", [summed, returned, abstract])
def test_results_are_those_of_plain_python(program):
    compiled = autoconv.compile(program)
    for length in (0.5, 2.0, 0.5):
        found, expected = (repr(result_or_error(f, np.arange(3.0), length)) for f in (compiled, program))
        assert found == expected
    assert program is abstract or "plain Python" not in compiled.explain(), compiled.explain()
