"""C libraries of functions: results, symbols, dependences, and errors."""

from __future__ import annotations

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autoconv
from autoconv.errors import TargetError, UnsupportedError

from .calling import Caller, LibraryError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
RANDOM = np.random.default_rng(1)


def shrunk(x, y):
    turns = 0
    while autoconv.reduce_sum(x) > 1.0:
        x = x / 2.0 + y
        turns += 1
        if turns > 60:
            raise ValueError("no end in sight")
    return {"x": x, "turns": turns}


def statistics(x):
    centred = x - autoconv.reduce_mean(x, axis=0)
    return (centred, (autoconv.reduce_max(x), 7)), autoconv.sort(x[:, 0])


def smoothed(values, rounds):
    for _ in range(rounds):
        for i in range(1, len(values) - 1):
            values[i] = (values[i - 1] + values[i] + values[i + 1]) / 3.0
    return values.sum()


def product(x, y):
    return x @ y


def named(x):
    return autoconv.strings.length(autoconv.as_string(x))


def noisy(x):
    return x + autoconv.random.uniform((3,), dtype=autoconv.float64)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    return autoconv.clibrary.build(shrunk, "float64[n,3] float64[3]", to=folder / "shrunk")


@pytest.mark.parametrize("size", [0, 1, 2, 3, 500])
def test_all_sizes_give_the_bits_of_the_process(library, size):
    x, y = RANDOM.uniform(0, 1, (size, 3)), np.full(3, 1e-9)
    found, expected = Caller(library)(x, y), autoconv.function(shrunk)(x, y)
    assert found["turns"] == int(expected["turns"])
    assert found["x"].tobytes() == expected["x"].numpy().tobytes()


def test_arrays_of_any_strides(library):
    x, y = RANDOM.uniform(0, 1, (40, 6))[::-2, ::2], np.full(3, 1e-9)
    assert np.array_equal(Caller(library)(x, y)["x"], Caller(library)(x.copy(), y)["x"])


def test_errors_are_codes_with_the_line_of_the_program(library):
    call = Caller(library)
    with pytest.raises(LibraryError, match=r"test_build\.py:\d+: ValueError: no end in sight"):
        call(np.ones((4, 3)), np.ones(3))
    with pytest.raises(LibraryError, match="x: dimension 1 has to be 3"):
        call(np.ones((4, 2)), np.ones(3))
    with pytest.raises(LibraryError, match="x: data is not aligned to 8 bytes"):
        call(np.frombuffer(bytes(97), offset=1).reshape(4, 3), np.ones(3))
    assert call.message(0) == b"no error"
    assert call.message(-1) == call.message(10_000) == b"no such code"


def test_threads_at_the_same_time(library):
    call = Caller(library)
    inputs = [RANDOM.uniform(0, 1, (size, 3)) for size in (50, 500, 5000, 50_000)] * 4
    y = np.full(3, 1e-9)
    alone = [call(x, y) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda x: call(x, y), inputs))
    for left, right in zip(alone, together, strict=True):
        assert np.array_equal(left["x"], right["x"])
        assert left["turns"] == right["turns"]


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
def test_a_library_needs_only_libc_and_libm(library):
    listed = subprocess.run(["nm", "-D", library.shared], capture_output=True, text=True, check=True).stdout
    undefined = {line.split()[-1].partition("@")[0] for line in listed.splitlines() if " U " in line}
    assert undefined <= {"aligned_alloc", "calloc", "free", "malloc", "memcpy", "memmove", "memset", "realloc"}
    defined = {line.split()[-1] for line in listed.splitlines() if " T " in line}
    assert defined == {"shrunk", "shrunk_message", "shrunk_free"}


def test_gradients_of_loops_keep_their_values_in_lists(tmp_path):
    @autoconv.function
    def grown(x, turns):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y, i = x, 0
            while i < turns:
                y = autoconv.sin(y) + x
                i += 1
        return tape.gradient(y, x)

    call = Caller(autoconv.clibrary.build(grown, "float64[] int32[]", to=tmp_path / "grown"))
    for turns in (0, 3, 3000):
        expected = grown(autoconv.constant(0.3, autoconv.float64), autoconv.constant(turns))
        np.testing.assert_allclose(call(0.3, turns)["value"], expected, rtol=1e-12)


def test_computed_sizes_and_positions_in_views(tmp_path):
    def counted(x, i):
        kinds, counts = np.unique(i, return_counts=True)
        chosen = np.take_along_axis(x.reshape(3, 2), i, 1)
        return {"kinds": kinds, "counts": counts, "chosen": chosen, "large": x[x > 2]}

    x, i = np.arange(6.0).reshape(2, 3), np.array([[1], [0], [1]])
    library = autoconv.clibrary.build(counted, "float64[2,3] int64[3,1]", to=tmp_path / "counted", contract="compile")
    call = Caller(library)
    for argument in (x, -x):
        for name, found in call(argument, i).items():
            np.testing.assert_array_equal(found, counted(argument, i)[name])
    with pytest.raises(LibraryError, match=r"test_build\.py:\d+: IndexError"):
        call(x, i + 1)


PROGRAM = """
#include "shrunk.h"
#include <stdio.h>

int main(void) {
    double x[6] = {1, 2, 3, 4, 5, 6}, y[3] = {0, 0, 0};
    autoconv_float64_2 matrix = autoconv_float64_2_of(x, 2, 3);
    autoconv_float64_1 vector = autoconv_float64_1_of(y, 3);
    shrunk_result result;
    int code = shrunk(&matrix, &vector, &result);
    if (code) { printf("%s\\n", shrunk_message(code)); return 1; }
    printf("%d turns, %g, %lld by %lld\\n", (int)result.turns, result.x.data[5], (long long)result.x.shape[0],
           (long long)result.x.shape[1]);
    shrunk_free(result.x.data);
    matrix.shape[1] = 2;
    printf("%s\\n", shrunk_message(shrunk(&matrix, &vector, &result)));
    return 0;
}
"""


@pytest.mark.parametrize(("compiler", "options"), [("cc", ["-std=c11"]), ("c++", ["-std=c++17"])])
@pytest.mark.parametrize("sanitizer", ["", "-fsanitize=address,undefined"])
def test_a_program_in_c(library, tmp_path, compiler, options, sanitizer):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / ("program.c" if compiler == "cc" else "program.cpp")
    source.write_text(PROGRAM)
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", *options, *([sanitizer] if sanitizer else [])]
    command = [compiler, *flags, f"-I{library.header.parent}", str(source), str(library.object), "-lm", "-o", "program"]
    compilation = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if compilation.returncode and "cannot find" in compilation.stderr:
        pytest.skip("there are no libraries of the sanitizers")
    assert not compilation.returncode, compilation.stderr
    completed = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=False)
    assert completed.stdout == "5 turns, 0.1875, 2 by 3\nx: dimension 1 has to be 3\n", completed.stderr


def test_structures_of_results(tmp_path):
    library = autoconv.clibrary.build(statistics, "float32[rows,columns]", to=tmp_path / "statistics")
    x = RANDOM.normal(size=(5, 4)).astype(np.float32)
    found, ((centred, (largest, _)), ordered) = Caller(library)(x), autoconv.function(statistics)(x)
    assert np.array_equal(found["item0"]["item0"], centred.numpy())
    assert found["item0"]["item1"] == {"item0": float(largest), "item1": 7}
    assert np.array_equal(found["item1"], ordered.numpy())


def test_arrays_that_are_written_to(tmp_path):
    library = autoconv.clibrary.build(
        smoothed, "float64[n] int64[]", to=tmp_path / "smoothed", contract="compile", cpu="native"
    )
    call = Caller(library)
    for size in (3, 7, 100):
        written_array, numpy_array = RANDOM.normal(size=(2, size))
        numpy_array[:] = written_array
        assert call(written_array, 3)["value"] == autoconv.compile(smoothed)(numpy_array, 3)
        assert np.array_equal(written_array, numpy_array)
    assert "autoconv_float64_1 *values, int64_t rounds" in library.header.read_text()
    assert "const autoconv_float64_1 *values" not in library.header.read_text()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cpu", ["x86-64", "native"])
def test_products_by_code_of_its_own(tmp_path, dtype, cpu):
    library = autoconv.clibrary.build(product, f"{dtype}[m,k] {dtype}[k,n]", to=tmp_path / "product", cpu=cpu)
    call = Caller(library)
    for m, k, n in ((1, 1, 1), (3, 5, 2), (7, 300, 9), (1, 40, 50), (50, 40, 1), (101, 513, 67), (4, 0, 3)):
        x, y = RANDOM.normal(size=(m, k)).astype(dtype), RANDOM.normal(size=(k, n)).astype(dtype)
        tolerance = 1e-4 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(call(x, y)["value"], x @ y, rtol=tolerance, atol=tolerance)
    with pytest.raises(LibraryError, match="y: dimension 0 has to be that of x"):
        call(np.ones((2, 3), dtype), np.ones((2, 3), dtype))


@pytest.mark.parametrize(("function", "op"), [(named, "as_string"), (noisy, "random_uniform")])
def test_functions_that_need_python_are_refused_with_their_line(tmp_path, function, op):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(UnsupportedError, match=rf"{op} at .*test_build\.py:{line}"):
        autoconv.clibrary.build(function, "float64[3]", to=tmp_path / "refused")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("triple", "magic"),
    [
        ("aarch64-linux-gnu", b"\x7fELF"), ("riscv64-linux-gnu", b"\x7fELF"), ("wasm32-unknown-unknown", b"\0asm"),
        ("arm64-apple-darwin", b"\xcf\xfa\xed\xfe"),
    ],
)  # fmt: skip
def test_objects_for_other_processors(tmp_path, triple, magic):
    library = autoconv.clibrary.build(shrunk, "float64[n,3] float64[3]", to=tmp_path / "shrunk", target=triple)
    assert library.object.read_bytes().startswith(magic)
    assert library.shared is None


def test_unknown_processors_are_named(tmp_path):
    for options, words in (
        ({"cpu": "x86-64-v9"}, "x86-64-v9 is no level"),
        ({"target": "abacus-linux-gnu"}, "abacus"),
        ({"cpu": "native", "target": "aarch64-linux-gnu"}, "native"),
    ):
        with pytest.raises(TargetError, match=words):
            autoconv.clibrary.build(product, "float64[2,2] float64[2,2]", to=tmp_path / "product", **options)


def test_without_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(TargetError, match="there is no C compiler"):
        autoconv.clibrary.build(product, "float64[2,2] float64[2,2]", to=tmp_path / "product")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["product.h", "product.o"]


def test_a_linker_that_fails_leaves_the_old_files(tmp_path, monkeypatch):
    to = tmp_path / "product"
    autoconv.clibrary.build(product, "float64[2,2] float64[2,2]", to=to)
    old = {path: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setenv("CC", "false")
    with pytest.raises(TargetError, match="false failed to link the shared library"):
        autoconv.clibrary.build(product, "float32[3,3] float32[3,3]", to=to)
    assert old == {path: path.read_bytes() for path in tmp_path.iterdir()} and len(old) == 3


def test_sizes_that_cannot_differ_are_named(tmp_path):
    def total(x, y):
        return x + y

    with pytest.raises(UnsupportedError, match=r"(?s)add at .*one name for"):
        autoconv.clibrary.build(total, "float64[?] float64[?]", to=tmp_path / "total")


def test_headers_do_not_depend_on_the_hash_seed(library):
    assert not re.search(r"0x[0-9a-f]{6}", library.header.read_text())


def test_given_numbers_are_part_of_the_library(tmp_path):
    def padded(values, more, by=0.5):
        found = np.zeros(values.shape[0] + more)
        found[more:] = values * by
        return found

    library = autoconv.clibrary.build(padded, "float64[n] 3", to=tmp_path / "padded", contract="compile")
    assert "int padded(autoconv_float64_1 *values, padded_result *result);" in library.header.read_text()
    values = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    np.testing.assert_array_equal(Caller(library)(values)["value"], padded(values, 3))
