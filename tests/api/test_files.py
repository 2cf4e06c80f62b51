"""Files in graphs and folders by TensorFlow's names."""

import numpy as np
import pytest

import autoconv as ac


@pytest.mark.parametrize("wrap", [lambda f: f, ac.function], ids=["eager", "graph"])
def test_files_are_read_and_written_when_the_graph_runs(tmp_path, wrap):
    path = str(tmp_path / "new" / "numbers")
    numbers = np.arange(4, dtype=np.int16)
    wrap(lambda p, c: ac.io.write_file(p, c))(ac.constant(path), ac.constant(numbers.tobytes()))
    read = wrap(lambda p: ac.io.decode_raw(ac.io.read_file(p), ac.int16))
    assert read(ac.constant(path)).numpy().tolist() == [0, 1, 2, 3]
    (tmp_path / "new" / "numbers").write_bytes(numbers[::-1].tobytes())
    assert read(ac.constant(path)).numpy().tolist() == [3, 2, 1, 0]
    big = wrap(lambda t: ac.io.decode_raw(t, ac.int16, little_endian=False))
    assert big(ac.constant([b"\x00\x01", b"\x01\x00"])).numpy().tolist() == [[1], [256]]
    padded = wrap(lambda t: ac.io.decode_raw(t, ac.int16, fixed_length=4))
    assert padded(ac.constant([b"\x01\x00\x02\x00\x03\x00", b"\x04"])).numpy().tolist() == [[1, 2], [4, 0]]
    with pytest.raises(ac.errors.NotFoundError, match="No such file"):
        ac.io.read_file(path + "!")
    with pytest.raises(ac.errors.InvalidArgumentError, match="length 3 that is not a multiple of 2"):
        ac.io.decode_raw([b"abc"], ac.int16)
    with pytest.raises(ac.errors.InvalidArgumentError, match="of one length"):
        ac.io.decode_raw([b"ab", b"abcd"], ac.int16)


def test_a_dataset_of_files(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(bytes([number] * 2))
    dataset = ac.data.Dataset.list_files(str(tmp_path / "*.bin"), shuffle=False)
    found = dataset.map(lambda path: ac.io.decode_raw(ac.io.read_file(path), ac.uint8)).batch(3)
    assert next(iter(found)).numpy().tolist() == [[0, 0], [1, 1], [2, 2]]


def test_folders(tmp_path):
    gfile = ac.io.gfile
    folder = gfile.join(str(tmp_path), "a", "b")
    gfile.makedirs(folder)
    with gfile.GFile(gfile.join(folder, "x.txt"), "w") as file:
        file.write("é")
    gfile.copy(gfile.join(folder, "x.txt"), gfile.join(folder, "y.txt"))
    with pytest.raises(ac.errors.AlreadyExistsError, match="already exists"):
        gfile.copy(gfile.join(folder, "x.txt"), gfile.join(folder, "y.txt"))
    gfile.rename(gfile.join(folder, "y.txt"), gfile.join(folder, "z.txt"))
    assert gfile.listdir(folder) == ["x.txt", "z.txt"] and gfile.isdir(folder) and gfile.exists(folder)
    assert gfile.glob(folder + "/*.txt") == [folder + "/x.txt", folder + "/z.txt"]
    assert gfile.GFile(folder + "/z.txt", "rb").read() == "é".encode() and gfile.stat(folder + "/z.txt").length == 2
    assert [files for *_, files in gfile.walk(str(tmp_path))][-1] in (["x.txt", "z.txt"], ["z.txt", "x.txt"])
    gfile.remove(folder + "/x.txt")
    gfile.rmtree(str(tmp_path / "a"))
    for missing in (lambda: gfile.GFile(folder), lambda: gfile.listdir(folder), lambda: gfile.remove(folder)):
        with pytest.raises(ac.errors.NotFoundError):
            missing()


def test_errors_of_the_system_are_those_of_tensorflow(tmp_path):
    """The classes are what TensorFlow 2.21 raises."""
    gfile, errors = ac.io.gfile, ac.errors
    folder, file, missing = str(tmp_path), str(tmp_path / "f"), str(tmp_path / "n")
    ac.io.write_file(file, "x")
    gfile.mkdir(folder)  # it exists
    for kind, call in (
        (errors.FailedPreconditionError, lambda: gfile.GFile(folder)),
        (errors.FailedPreconditionError, lambda: gfile.remove(folder)),
        (errors.FailedPreconditionError, lambda: gfile.makedirs(file + "/a")),
        (errors.FailedPreconditionError, lambda: ac.io.read_file(folder)),
        (errors.FailedPreconditionError, lambda: ac.io.write_file(folder, "a")),
        (errors.FailedPreconditionError, lambda: ac.io.write_file(file + "/a", "a")),
        (errors.ResourceExhaustedError, lambda: ac.io.write_file("/dev/full", "a" * 9999)),
        (errors.ResourceExhaustedError, lambda: ac.function(ac.io.write_file)("/dev/full", "a" * 9999)),
        (errors.NotFoundError, lambda: gfile.mkdir(missing + "/a")),
        (errors.NotFoundError, lambda: gfile.copy(missing, file + "g")),
        (errors.NotFoundError, lambda: gfile.rename(missing, file + "g")),
        (errors.NotFoundError, lambda: gfile.stat(missing)),
    ):
        with pytest.raises(kind, match="; "):
            call()
