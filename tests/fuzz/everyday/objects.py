"""Objects with state and methods, dataclasses, enumerations."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum

from everyday import program, words


@dataclasses.dataclass
class Item:
    name: str
    weight: int
    price: float
    tags: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


class Account:
    def __init__(self, owner, balance=0):
        self.owner, self.balance, self.history = owner, balance, []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount")
        self.balance += amount
        self.history.append(("in", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("balance")
        self.balance -= amount
        self.history.append(("out", amount))


class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


def items(draws, count):
    return [Item(w, draws.randint(1, 20), draws.uniform(1, 50), [w[:1]]) for w in words(draws, count)]


@program(lambda r, n: (items(r, n), r.randint(1, 20)))
def heavy(stock, least):
    return [item.name for item in stock if item.weight > least]


@program(lambda r, n: (items(r, n),))
def invoice(stock):
    total = 0.0
    for item in stock:
        total += item.weight * item.price * (0.9 if item.weight > 10 else 1.0)
    return round(total, 2)


@program(lambda r, n: (items(r, n),))
def by_tags(stock):
    groups = collections.defaultdict(list)
    for item in stock:
        for tag in item.tags:
            groups[tag].append(item.price)
    return {tag: sum(prices) / len(prices) for tag, prices in groups.items()}


@program(lambda r, n: (items(r, n),))
def cheapest(stock):
    heaviest = max(stock, key=lambda item: item.weight)
    return [item.name for item in sorted(stock, key=lambda item: item.price)[:3]], heaviest.name


@program(lambda r, n: (items(r, n), 1.0 + r.random()))
def inflated(stock, factor):
    for item in stock:
        item.price *= factor
    return [dataclasses.replace(item, weight=0) for item in stock[:2]]


@program(lambda r, n: (items(r, 1 + n // 4), r.randint(5, 60)))
def knapsack(stock, room):
    best = [0.0] * (room + 1)
    for item in stock:
        for w in range(room, item.weight - 1, -1):
            best[w] = max(best[w], best[w - item.weight] + item.price)
    return best[room]


@program(lambda r, n: ([r.randint(-50, 100) for _ in range(n)],))
def banking(amounts):
    account, errors = Account("me", 10), 0
    for amount in amounts:
        try:
            if amount >= 0:
                account.deposit(amount)
            else:
                account.withdraw(-amount)
        except ValueError:
            errors += 1
    return account.balance, errors, len(account.history)


@program(lambda r, n: (Account("her", 50), [r.randint(-50, 100) for _ in range(n)]))
def booked(account, amounts):
    for amount in amounts:
        with contextlib.suppress(ValueError):
            account.deposit(amount) if amount > 0 else account.withdraw(-amount)
    return account.balance


@program(lambda r, n: ([Point(r.randint(-5, 5), r.randint(-5, 5)) for _ in range(n)],))
def centre(points):
    total = Point(0, 0)
    for point in points:
        total = total + point
    return total, min(points), len(set(points))


@program(lambda r, n: ([r.choice(list(Colour)) for _ in range(n)],))
def colours(drawn_colours):
    counts = dict.fromkeys(Colour, 0)
    for colour in drawn_colours:
        counts[colour] += 1
    return {colour.name: count for colour, count in counts.items()}
