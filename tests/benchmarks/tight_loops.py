"""Loops with little work in an iteration, where the overhead of conversion is largest."""


def collatz(limit):
    """Return the start below `limit` with the longest path to 1."""
    best, longest = 0, 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            best, longest = start, steps
    return best, longest


def sieve(limit):
    """Return the number of primes below `limit`."""
    is_prime = [True] * limit
    count = 0
    for i in range(2, limit):
        if is_prime[i]:
            count += 1
            for j in range(i * i, limit, i):
                is_prime[j] = False
    return count


def nested_loops(n):
    """Return the number of right triangles with integer sides up to `n`."""
    count = 0
    for a in range(1, n):
        for b in range(a, n):
            for c in range(b, n):
                if a * a + b * b == c * c:
                    count += 1
                    break
    return count


def nqueens(n):
    """Return the number of placements of `n` queens on a board."""
    columns, rising, falling = set(), set(), set()

    def place(row):
        if row == n:
            return 1
        count = 0
        for column in range(n):
            if column in columns or row + column in rising or row - column in falling:
                continue
            columns.add(column)
            rising.add(row + column)
            falling.add(row - column)
            count += place(row + 1)
            columns.remove(column)
            rising.remove(row + column)
            falling.remove(row - column)
        return count

    return place(0)


def scan_words(text):
    """Return the counts of words and numbers and the longest word of a text, read by characters."""
    words, numbers, longest = 0, 0, ""
    position = 0
    while position < len(text):
        character = text[position]
        if character.isspace():
            position += 1
            continue
        start = position
        while position < len(text) and not text[position].isspace():
            position += 1
        word = text[start:position]
        if word.isdigit():
            numbers += 1
        else:
            words += 1
            if len(word) > len(longest):
                longest = word
    return words, numbers, longest
