"""Tensors and arrays of other libraries: shared memory and writability."""

import copy
import pickle
import sys

import numpy as np
import pytest

import autoconv as ac


def test_tensors_as_arrays_share_read_only_memory():
    x = ac.constant([[1.0, 2.0], [3.0, 4.0]])
    for array in (np.asarray(x), np.asarray(x)):
        assert not array.flags.writeable and np.shares_memory(array, np.asarray(x))
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 7.0
    for writable in (np.array(x), x.numpy()):
        writable[0, 0] = 7.0
    assert x.numpy()[0, 0] == 1.0
    assert np.asarray(x, np.float64).dtype == np.float64


def test_arrays_become_tensors_by_one_copy():
    for make in (ac.constant, ac.convert_to_tensor, ac.xp.asarray):
        array = np.arange(4.0)
        x = make(array)
        array[0] = 100.0
        assert x.numpy()[0] == 0.0


def test_the_array_interface():
    x = ac.constant(np.arange(6.0).reshape(2, 3))
    interface = x.__array_interface__
    assert interface["shape"] == (2, 3) and interface["typestr"] == "<f8" and interface["data"][1]
    assert not hasattr(ac.constant(["a"]), "__array_interface__")
    assert np.asarray(ac.constant(["a"]))[0] == b"a"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python asks for __buffer__ from 3.12 on")
def test_buffers():
    view = memoryview(ac.constant(np.arange(3.0)))
    assert view.readonly and view.tolist() == [0.0, 1.0, 2.0]


def test_tensors_by_dlpack():
    x = ac.constant(np.arange(3.0))
    assert x.__dlpack_device__() == (1, 0)
    array = np.from_dlpack(x)
    np.testing.assert_array_equal(array, [0.0, 1.0, 2.0])
    assert not array.flags.writeable or not np.shares_memory(array, np.asarray(x))


class OldProducer:
    """A producer of DLPack capsules as before version 1.0."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


def test_arrays_by_old_dlpack_are_copied():
    x = ac.constant(np.arange(3.0))
    array = np.from_dlpack(OldProducer(x))
    assert not np.shares_memory(array, np.asarray(x)) and array.tolist() == [0.0, 1.0, 2.0]


def test_arrays_by_dlpack():
    array = np.arange(3.0)
    x = ac.xp.from_dlpack(array)
    array[0] = 7.0
    assert x.numpy().tolist() == [0.0, 1.0, 2.0]
    assert np.shares_memory(np.asarray(ac.xp.from_dlpack(array, copy=False)), array)


def test_pickled_and_copied():
    x = ac.constant([1.5, 2.5])
    for copied in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert copied.dtype == x.dtype
        np.testing.assert_array_equal(copied, x)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = ac.constant([1.5, 2.5], ac.bfloat16)
    array = np.asarray(x)
    assert array.dtype == ml_dtypes.bfloat16 and array.astype(float).tolist() == [1.5, 2.5]
    copied = ac.constant(array)
    assert copied.dtype == ac.bfloat16 and pickle.loads(pickle.dumps(copied)).dtype == ac.bfloat16
