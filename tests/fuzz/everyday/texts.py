"""Strings, dicts, regular expressions and parsers."""

from __future__ import annotations

import collections
import csv
import io
import itertools
import json
import re
import string
import textwrap

from everyday import ints, program, text, words


@program(lambda r, n: (text(r, n), r.randint(1, 25)))
def caesar(message, shift):
    out = []
    for c in message:
        if c.isalpha():
            out.append(chr((ord(c) - 97 + shift) % 26 + 97))
        else:
            out.append(c)
    return "".join(out)


@program(lambda r, n: (text(r, n),))
def count_words(message):
    counts = {}
    for word in message.split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]


@program(lambda r, n: (text(r, n),))
def letters(message):
    counts = collections.defaultdict(int)
    for c in message:
        counts[c] += 1
    return dict(counts)


@program(lambda r, n: (text(r, n),))
def vowels(message):
    return sum(1 for c in message if c in "aeiou")


@program(lambda r, n: (text(r, n),))
def palindrome(message):
    characters = [c for c in message.lower() if c.isalnum()]
    return characters == characters[::-1]


@program(lambda r, n: (text(r, n),))
def run_lengths(message):
    return [(c, len(list(group))) for c, group in itertools.groupby(message)]


@program(lambda r, n: (text(r, n),))
def run_lengths_by_hand(message):
    out, last, count = [], "", 0
    for c in message:
        if c == last:
            count += 1
        else:
            if last:
                out.append(last + str(count))
            last, count = c, 1
    return "".join(out) + last + str(count)


@program(lambda r, n: (words(r, n),))
def anagrams(vocabulary):
    groups = {}
    for word in vocabulary:
        groups.setdefault("".join(sorted(word)), []).append(word)
    return [group for group in groups.values() if len(group) > 1]


@program(lambda r, n: (text(r, 1 + n // 8), text(r, 1 + n // 8)))
def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, c in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, d in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (c != d))
    return row[-1]


@program(lambda r, n: (text(r, 1 + n // 8), text(r, 1 + n // 8)))
def common_subsequence(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@program(lambda r, n: (text(r, n),))
def emails(message):
    return re.findall(r"\b[a-z]+e\b", message), re.sub(r"[aeiou]", "*", message)


@program(lambda r, n: (", ".join(f"{w}={i}" for i, w in enumerate(words(r, n))),))
def settings(line):
    values_by_name = {}
    for part in line.split(","):
        match = re.match(r"\s*(\w+)=(\d+)", part)
        if match:
            values_by_name[match.group(1)] = int(match.group(2))
    return values_by_name


@program(lambda r, n: ("+".join(f"{a}*({a + 3}-{r.randint(1, 9)})" for a in ints(r, 1 + n // 4, 9)),))
def calculate(expression):
    tokens = re.findall(r"\d+|[-+*/()]", expression)
    position = 0

    def atom():
        nonlocal position
        token = tokens[position]
        position += 1
        if token == "(":
            value = total()
            position += 1
            return value
        return int(token)

    def product():
        nonlocal position
        value = atom()
        while position < len(tokens) and tokens[position] == "*":
            position += 1
            value *= atom()
        return value

    def total():
        nonlocal position
        value = product()
        while position < len(tokens) and tokens[position] in "+-":
            sign = tokens[position]
            position += 1
            other = product()
            value = value + other if sign == "+" else value - other
        return value

    return total()


@program(lambda r, n: (" ".join(str(r.choice([r.randint(1, 9), "+", "*"])) for _ in range(n)),))
def reverse_polish(line):
    stack = [1, 1]
    for token in line.split():
        if token == "+":
            stack.append(stack.pop() + (stack.pop() if stack else 0))
        elif token == "*":
            stack.append(stack.pop() * (stack.pop() if stack else 1) % 1009)
        else:
            stack.append(int(token))
    return stack


@program(lambda r, n: ("".join(r.choice("()[]{}") for _ in range(n)),))
def brackets(line):
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for c in line:
        if c in "([{":
            stack.append(c)
        elif not stack or stack.pop() != pairs[c]:
            return False
    return not stack


@program(lambda r, n: ("\n".join(f"{w},{r.randint(1, 99)},{r.random():.3f}" for w in words(r, n)),))
def rows_of_csv(data):
    totals = {}
    for name, count, price in csv.reader(io.StringIO(data)):
        totals[name] = totals.get(name, 0.0) + int(count) * float(price)
    return max(totals.values()), len(totals)


@program(lambda r, n: ("\n".join(f"{r.choice(['INFO', 'WARN', 'ERROR'])} {w}" for w in words(r, n)),))
def log_levels(data):
    return collections.Counter(line.split()[0] for line in data.splitlines())


@program(lambda r, n: (json.dumps({w: {"n": i, "of": [i, i + 1]} for i, w in enumerate(words(r, n))}),))
def from_json(data):
    parsed = json.loads(data)
    return sum(part["n"] + sum(part["of"]) for part in parsed.values())


@program(lambda r, n: ({w: {v: r.randint(1, 9) for v in words(r, 2)} for w in words(r, n)},))
def flattened(nested):
    out = {}
    for outer, inner in nested.items():
        for name, value in inner.items():
            out[f"{outer}.{name}"] = value
    return out


@program(lambda r, n: ({w: r.randint(0, 9) for w in words(r, n)}, {w: r.randint(0, 9) for w in words(r, n)}))
def merged(first, second):
    out = dict(first)
    for key, value in second.items():
        out[key] = out[key] + value if key in out else value
    return {key: out[key] for key in sorted(out)}


@program(lambda r, n: (text(r, n), r.randint(10, 30)))
def wrapped(message, width):
    lines, line = [], ""
    for word in message.split():
        if len(line) + len(word) + 1 > width and line:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line], textwrap.wrap(message, width)


@program(lambda r, n: (r.randint(1, 3999),))
def roman(number):
    out = ""
    for value, name in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
                        (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):  # fmt: skip
        while number >= value:
            out += name
            number -= value
    return out


@program(lambda r, n: ("".join(r.choice("IVXLC") for _ in range(n)),))
def from_roman(line):
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
    total = 0
    for c, d in zip(line, line[1:] + "I", strict=True):
        total += -values[c] if values[c] < values[d] else values[c]
    return total


@program(lambda r, n: (text(r, n), text(r, n)))
def vigenere(message, key):
    key = [ord(c) % 26 for c in key]
    return "".join(string.ascii_lowercase[(ord(c) + key[i % len(key)]) % 26] for i, c in enumerate(message))


@program(lambda r, n: (ints(r, n, 10**9), r.randint(2, 16)))
def in_base(numbers, base):
    out = []
    for number in numbers:
        digits = ""
        while number:
            number, digit = divmod(number, base)
            digits = "0123456789abcdef"[digit] + digits
        out.append(digits or "0")
    return out


@program(lambda r, n: ("".join(r.choice("0123456789") for _ in range(n)),))
def luhn(digits):
    total = 0
    for i, c in enumerate(reversed(digits)):
        d = int(c)
        if i % 2:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0


@program(lambda r, n: (text(r, n).encode(),))
def checksum(data):
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b << 16 | a


@program(lambda r, n: (text(r, n),))
def titles(message):
    return " ".join(w.capitalize() if len(w) > 2 else w for w in message.split()).replace("  ", " ").strip()


@program(lambda r, n: (words(r, n), "".join(r.choice("aeo") for _ in range(2))))
def starts(vocabulary, prefix):
    trie = {}
    for word in vocabulary:
        node = trie
        for c in word:
            node = node.setdefault(c, {})
        node["$"] = word
    node = trie
    for c in prefix:
        node = node.get(c)
        if node is None:
            return []
    out, pending = [], [node]
    while pending:
        node = pending.pop()
        for key, value in node.items():
            if key == "$":
                out.append(value)
            else:
                pending.append(value)
    return sorted(out)


@program(lambda r, n: ({w: ints(r, 3) for w in words(r, n)},))
def report(table):
    lines = [f"{name:<10}|{sum(row):>6}|{sum(row) / len(row):8.2f}" for name, row in sorted(table.items())]
    return "\n".join(lines)
