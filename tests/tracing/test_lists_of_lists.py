"""Lists of lists of numbers: rows that are shared, ragged ones, errors, and the tables that programs fill."""

import pytest

import autoconv


def check(function, *calls):
    compiled = autoconv.compile(function)
    for arguments in calls:
        assert _outcome(compiled, arguments) == _outcome(function, arguments)
    return compiled


def _outcome(function, arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error), str(error)


def test_rows_that_are_one_list():
    def shared(n, m):
        rows = [[0] * m] * n
        rows[0][1] = 5
        rows[-1][0] += 2
        separate_rows = [[0] * m for _ in range(n)]
        separate_rows[0][1] = 5
        return rows, separate_rows, rows[0] is rows[1], sum(map(sum, rows))

    compiled = autoconv.compile(shared)
    rows, separate_rows, is_one_list, total = compiled(3, 2)
    assert (rows, separate_rows, is_one_list, total) == shared(3, 2)
    rows[0][0] = 9
    assert rows[2][0] == 9 and separate_rows[1][0] == 0


def test_rows_that_change_their_length():
    def pascal(n):
        rows = [[1]]
        for _ in range(n):
            before = rows[-1]
            rows.append([1, *[before[j] + before[j + 1] for j in range(len(before) - 1)], 1])
        return rows, rows[-2][1], [len(row) for row in rows]

    check(pascal, (4,), (1,), (0,), (70,))


@pytest.mark.parametrize("places", [(0, 0), (2, 1), (-1, -2), (3, 0), (0, 2), (-4, 0), (1, -3)])
def test_indices_in_and_out_of_range(places):
    def element_at(n, i, j):
        rows = [[k * 10 + x for x in range(2)] for k in range(n)]
        rows[i][j] += 1
        return rows[i][j], rows

    check(element_at, (3, *places))


def test_tables():
    def distance(n, m):
        a, b = [i * 7 % 5 for i in range(n)], [i * 3 % 4 for i in range(m)]
        dp = [[0] * (m + 1) for _ in range(n + 1)]
        for i in range(n + 1):
            dp[i][0] = i
        for j in range(m + 1):
            dp[0][j] = j
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                if a[i - 1] == b[j - 1]:
                    dp[i][j] = dp[i - 1][j - 1]
                else:
                    dp[i][j] = 1 + min(dp[i - 1][j], dp[i][j - 1], dp[i - 1][j - 1])
        return dp[n][m]

    check(distance, (9, 12), (0, 3), (1, 1))


def test_a_table_that_outgrows_64_bits():
    def grown(n):
        rows = [[1, 2], [3, 4]]
        for _ in range(n):
            rows[0][0] *= rows[1][1] + 1
            rows[1][1] += rows[0][0]
        return rows

    check(grown, (3,), (12,))


@pytest.mark.parametrize(
    "x", [0, 1, -1, 2, -3, 10, (1 << 31), -(1 << 63), True, 0.0, -0.0, 0.5, -2.5, float("inf"), float("nan")]
)
def test_powers(x):
    compiled = autoconv.compile(lambda x, y: x**y)
    for y in (0, 1, 2, 3, 5, 31, 62, 63, 64, -1, -2, True, 0.5, -0.5, 2.0, -3.0, float("inf")):
        assert _outcome(compiled, (x, y)) == _outcome(lambda x, y: x**y, (x, y))
