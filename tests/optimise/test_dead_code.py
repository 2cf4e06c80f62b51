"""Dead code: nodes whose results nothing uses."""

import autoconv as ac


def test_errors_of_unused_results_are_caught_under_function():
    @ac.function
    def f(values, position):
        try:
            item = values[position]  # noqa: F841 - its error is what counts
        except IndexError:
            return -1
        return 2

    @ac.function
    def checked(values):
        for _ in range(1):
            try:
                ac.debugging.assert_positive(values)
            except ac.errors.InvalidArgumentError:
                return -1
        return 2

    values = ac.constant([1.0, 2.0])
    assert [int(f(values, ac.constant(position))) for position in (0, 5, -3)] == [2, -1, -1]
    assert int(checked(values)) == 2 and int(checked(-values)) == -1
