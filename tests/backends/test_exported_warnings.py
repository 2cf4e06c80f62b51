"""Where NumPy only warns, as of means of no elements, ONNX models and C libraries have its results and no error."""

import warnings

import numpy as np
import pytest

import autoconv
from tests.clibrary.calling import Caller

SPECS = "float64[n,m] float64[p]"


def statistics(rows, numbers):
    means = rows[:, ::-1].mean(0), rows.var(0), rows.std(0, ddof=1), rows.var(0, ddof=2)
    return *means, np.cov(rows.T), np.nanmedian(numbers), np.nanvar(numbers, ddof=2)


@pytest.mark.parametrize("shape", [(0, 3), (1, 2), (4, 3)])
@pytest.mark.parametrize("numbers", [[np.nan, np.nan], [np.nan, 2.0], [np.nan, 5.0, 1.0, 7.0]])
def test_results_are_those_of_numpy(exported, shape, numbers):
    arguments = np.arange(float(shape[0] * shape[1])).reshape(shape) ** 2, np.array(numbers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = statistics(*arguments)
    for function in exported:
        for found, result in zip(function(*arguments), expected, strict=True):
            np.testing.assert_allclose(found, result, rtol=1e-13)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    library = autoconv.clibrary.build(
        statistics, SPECS, to=tmp_path_factory.mktemp("library") / "statistics", contract="compile"
    )
    call = Caller(library)
    model = autoconv.onnx.load(autoconv.onnx.export(statistics, SPECS, contract="compile"))
    return model, lambda *arguments: call(*arguments).values()
