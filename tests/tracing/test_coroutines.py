"""Asynchronous functions under compile: they run as plain Python, and no coroutine is dropped on the way."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest

import autoconv


async def square(n):
    await asyncio.sleep(0)
    return n * n


async def up_to(n):
    for i in range(n):
        yield await square(i)


async def total(n):
    return sum([value async for value in up_to(n)])


@pytest.mark.parametrize(("function", "expected"), [(square, 16), (total, 14)])
def test_coroutine_functions(function, expected):
    compiled = autoconv.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # RuntimeWarning: a coroutine was never awaited
        assert [asyncio.run(compiled(4)) for _ in range(3)] == [expected] * 3
        gc.collect()
    assert f"{function.__name__} is asynchronous" in compiled.explain()


def test_a_function_that_makes_coroutines():
    @autoconv.compile
    def schedule(n):
        return [square(n), square(n + 1)]

    async def gathered(n):
        return await asyncio.gather(*schedule(n))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [asyncio.run(gathered(n)) for n in (2, 3, 2)] == [[4, 9], [9, 16], [4, 9]]
        gc.collect()
    assert "square is asynchronous" in schedule.explain()


def test_asynchronous_generators():
    async def listed(compiled, n):
        return [value async for value in compiled(n)]

    assert asyncio.run(listed(autoconv.compile(up_to), 3)) == [0, 1, 4]
