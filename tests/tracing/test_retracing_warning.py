"""The message about many traces under `compile`: its text and level, and that it comes twice for a function."""

import logging

import numpy as np

import autoconv as ac


def test_the_message_names_the_decorator_and_explain(caplog):
    @ac.compile
    def total(x, kind):
        return x.sum() + len(kind)

    with caplog.at_level(logging.DEBUG, "autoconv"):
        for number in range(8):
            total(np.ones((2,) * number), "a" * number)
    records = [record for record in caplog.records if "out of the last" in record.getMessage()]
    assert {record.levelno for record in records} == {logging.DEBUG}  # plain Python prints nothing
    messages = [record.getMessage() for record in records]
    assert len(messages) == 2
    for message in messages:
        assert "@autoconv.compile" in message and "explain()" in message
        assert "autoconv.function" not in message and "tensor" not in message
