"""The array API namespace: information, dtypes, devices, and exchange of arrays with other libraries."""

import numpy as np
import pytest

import autoconv as ac

xp = ac.xp

REAL = np.array([[0.5, -1.25, 2.0], [3.5, 0.75, -0.25]])
SQUARE = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])


def test_dtypes_and_information():
    assert xp.asarray([1, 2]).dtype == xp.int64 and xp.asarray(1.5).dtype == xp.float64
    assert xp.asarray([True]).dtype == xp.bool and xp.zeros(2, dtype=xp.float32).dtype == xp.float32
    assert (
        xp.result_type(xp.int8, xp.uint8) == xp.int16
        and xp.result_type(xp.ones(2, dtype=xp.float32), 1.5) == xp.float32
    )
    assert xp.can_cast(xp.int8, xp.int32) and not xp.can_cast(xp.float64, xp.float32)
    assert xp.isdtype(xp.float32, "real floating") and not xp.isdtype(xp.int8, ("bool", xp.float32))
    assert xp.finfo(xp.float32).eps == np.finfo("f4").eps and xp.iinfo(xp.int8).max == 127
    assert xp.astype(xp.asarray([1.5, 2.5]), xp.int32).dtype == xp.int32
    information = xp.__array_namespace_info__()
    assert information.default_dtypes()["integral"] == xp.int64 and "int8" in information.dtypes(kind="signed integer")
    assert xp.__array_api_version__ == "2024.12" and (xp.pi, xp.newaxis) == (np.pi, None)


def test_descending_order_keeps_equal_elements_in_theirs():
    x = xp.asarray([2, 1, 2, 1])
    np.testing.assert_array_equal(xp.argsort(x, descending=True), [0, 2, 1, 3])
    np.testing.assert_array_equal(xp.sort(x, descending=True), [2, 2, 1, 1])
    signs = np.signbit(xp.sort(np.array([0.0, -0.0, 0.0, -0.0, -0.0]), descending=True).numpy())
    np.testing.assert_array_equal(signs, [False, True, False, True, True])


def test_named_results():
    x = xp.asarray([3, 1, 3])
    found = xp.unique_all(x)
    for name, expected in (("values", [1, 3]), ("indices", [1, 0]), ("inverse_indices", [1, 0, 1]), ("counts", [1, 2])):
        np.testing.assert_array_equal(getattr(found, name), expected)
    q, r = xp.linalg.qr(xp.asarray(SQUARE))
    np.testing.assert_allclose(np.asarray(q) @ np.asarray(r), SQUARE, atol=1e-14)
    np.testing.assert_allclose(xp.linalg.eigh(xp.asarray(SQUARE)).eigenvalues, np.linalg.eigvalsh(SQUARE))
    np.testing.assert_allclose(xp.linalg.svd(xp.asarray(SQUARE)).S, np.linalg.svd(SQUARE).S)


def standardised(x):
    names = x.__array_namespace__()
    return (x - names.mean(x)) / names.std(x), x.T, x.size


def test_code_written_for_the_standard():
    expected = (REAL - REAL.mean()) / REAL.std()
    for run in (standardised, ac.function(standardised)):
        found, turned, size = run(xp.asarray(REAL))
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        np.testing.assert_array_equal(turned, REAL.T)
        assert size == 6


def test_versions_and_devices():
    x = xp.ones(2)
    assert x.__array_namespace__(api_version="2022.12") is xp and x.to_device("cpu") is x
    with pytest.raises(ValueError, match=r"the array API of 2030\.12 is not here"):
        x.__array_namespace__(api_version="2030.12")
    with pytest.raises(ValueError, match="there is no device 'gpu'"):
        x.to_device("gpu")


def test_devices_are_those_of_tensors():
    information, x = xp.__array_namespace_info__(), xp.ones(2)
    assert x.device == information.default_device() and information.devices() == [x.device]
    assert xp.zeros(2, device=x.device).device == xp.asarray([1], device="cpu").device == x.device
    for refused in (lambda: xp.zeros(2, device="gpu"), lambda: information.dtypes(device="tpu")):
        with pytest.raises(ValueError, match="there is no device"):
            refused()


def test_limits_of_dtypes_are_python_numbers():
    limits = xp.finfo(xp.complex64)
    assert (limits.bits, limits.eps, limits.dtype) == (32, 2.0**-23, xp.float32) and type(limits.max) is float
    limits = xp.iinfo(xp.asarray([1], dtype=xp.uint16))
    assert (limits.bits, limits.min, limits.max, limits.dtype) == (16, 0, 65535, xp.uint16)


def test_what_is_copied():
    array = np.ones(2)
    copied_by_default, shared, copied = xp.asarray(array), xp.asarray(array, copy=False), xp.asarray(memoryview(array))
    array[0] = 5
    assert float(copied_by_default[0]) == float(copied[0]) == 1.0 and float(shared[0]) == 5.0
    for needs in ([1, 2], np.ones(2, "f4")):
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(needs, dtype=xp.float64, copy=False)
    with pytest.raises(OverflowError):
        xp.asarray(2**70)
    with pytest.raises(TypeError):
        xp.asarray(["text"])


def test_other_libraries():
    x = xp.asarray([1.0, 2.0])
    assert x.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(np.from_dlpack(x), [1.0, 2.0])
    array = np.arange(3)
    on_device, shared = xp.from_dlpack(array, device="cpu"), xp.from_dlpack(array, copy=False)
    array[0] = 7
    assert int(on_device[0]) == 0 and int(shared[0]) == 7
    with pytest.raises(BufferError, match="cannot be exported to the device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="without a copy"):
        x.__dlpack__(copy=False)


def test_refusals():
    matrix = xp.ones((2, 2))
    for call in (
        lambda: xp.take(matrix, xp.asarray([0])), lambda: xp.cumulative_sum(matrix), lambda: xp.result_type(1, 2.0),
        lambda: xp.linalg.outer(matrix, matrix), lambda: xp.linalg.cross(xp.ones(2), xp.ones(2)),
        lambda: xp.linalg.qr(matrix, mode="raw"), lambda: xp.vecdot(xp.ones(3), xp.ones(1)),
        lambda: xp.nonzero(xp.asarray(1)), lambda: xp.squeeze(matrix, 0),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        xp.astype(xp.asarray([1j]), xp.float32)


def test_errors_in_a_graph_have_a_place():
    @ac.function(input_signature=[ac.TensorSpec([None, 3])])
    def rows(x):
        return xp.unstack(x)

    with pytest.raises(ac.errors.StagingError, match=r"test_namespace\.py:\d+:\d+: .*known only at run time"):
        rows(xp.ones((2, 3), dtype=xp.float32))
