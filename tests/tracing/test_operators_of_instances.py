"""Objects of the graph whose classes have special methods, and objects among which a tensor chooses."""

import autoconv
from tests.tracing.test_objects import check_calls

CALLS = (0,), (1,), (3,), (6,)


class Box:
    def __init__(self, n, m=1):
        self.n = n
        self.m = m

    def grow(self, k):
        self.n = (self.n + k) % 50
        return self.n

    def __add__(self, other):
        if isinstance(other, Box):
            return Box(self.n + other.n, self.m)
        return Box(self.n + other, self.m)

    def __len__(self):
        return abs(self.n) % 5

    def __eq__(self, other):
        return isinstance(other, Box) and self.n == other.n

    def __lt__(self, other):
        return self.n < other.n

    def __call__(self, k):
        return self.m - k if k > self.n else k

    def __getitem__(self, k):
        return self.n + k

    def __setitem__(self, k, value):
        self.n = (k + value) % 20

    def __contains__(self, k):
        return k in (self.n, self.m)

    def __iter__(self):
        return iter((self.n, self.m))

    def __bool__(self):
        return self.n > 0


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __radd__(self, other):
        return Money(other + self.amount)

    def __rsub__(self, other):
        return other - self.amount

    def __imul__(self, factor):
        self.amount *= factor
        return self

    def __neg__(self):
        return Money(-self.amount)


class Plain:
    def __init__(self, value):
        self.value = value


def test_special_methods_of_items():
    def f(n):
        boxes = []
        for i in range(n):
            boxes.append(Box(i, n))
        total = Box(0)
        for b in boxes:
            b[3] = n
            total = total + b
            if b:
                total += 1
            if 3 in b:
                total.m += 1
            if len(b) > 1:
                total.n += b(2)
            total.n += b[1]
            if b == total or total < b:
                total.n += 7
            for q in b:
                total.n += q
            x, y = b
            total.n += x - y + sum(total)
        return total.n, total.m, [b.n for b in boxes]

    check_calls(f, *CALLS)


def test_reflected_and_in_place():
    def f(n):
        found = []
        for i in range(n):
            found.append(Money(i))
        total = 100
        for money in found:
            total = total - money
            money *= 3
            found[0] = -(2 + money)
        return total, [money.amount for money in found]

    check_calls(f, *CALLS)


def test_comparisons_of_containers_read():
    def f(n):
        boxes = [Box(1)]
        for i in range(n):
            boxes.append(Box(i))
        return boxes.count(Box(1)), Box(2) in boxes, boxes == [Box(1)], min(boxes).n, sorted(boxes)[-1].n

    check_calls(f, *CALLS)


def test_one_of_two_objects_is_changed():
    def f(n):
        first = Plain(1)
        chosen = first
        if n > 1:
            chosen = Plain(n)
        chosen.value += 2
        pair = [chosen, first]
        pair[0].value *= 3
        return first.value, chosen.value, chosen is first, chosen == first, pair[0] is first

    check_calls(f, *CALLS)

    def in_a_loop(n):
        p, q = Box(1), Box(2)
        chosen = p
        for i in range(n):
            chosen.n += i
            chosen = q if i % 2 else chosen
            if chosen.n > 5:
                chosen = Box(i)
            p.m += chosen.grow(2)
        return p.n, p.m, q.n, q.m, chosen.n, chosen is p, chosen is q

    check_calls(in_a_loop, *CALLS)


def test_another_name_of_a_replaced_object():
    def f(n):
        box = Plain(n)
        while n > 0:
            alias = box
            if n % 2:
                alias.value = box.value + n
            else:
                box = Plain(n)
            n -= 1
        return box.value

    check_calls(f, *CALLS)


def test_an_attribute_that_gets_an_object_in_a_loop():
    """The first iteration adds numbers; the second one adds the object that the first has stored."""

    def f(n):
        holder = [Plain(0), "text"]
        found = [1, "text"]
        total = 0
        for i in range(n):
            total = found[i % 2 * 0] + total
            found[0] = Box(i) if i else 5
            holder[0].value = i
            total = total.n if isinstance(total, Box) else total
        return total

    check_calls(f, *CALLS)


def test_an_operand_whose_class_is_known_after_the_operation():
    def f(n):
        found = [2, "x"]
        total = 0
        for i in range(n):
            item = found[i % 2 if i > 3 else 0]
            total += len(item) if item in ("x", Box(3)) else 1
            found[0] = Box(i)
        return total

    check_calls(f, (0,), (1,), (3,), (7,))


class Counted:
    def __init__(self, n):
        self.n = n
        self.seen = 0
        self.depth = 0

    def __iter__(self):
        for i in range(3):
            self.seen += i
            yield self.n + i

    def __len__(self):
        return self.n

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, kind, error, trace):
        self.depth -= 1
        self.n += 5
        return self.n > 3


def test_one_of_two_objects_is_iterated():
    def f(n):
        p, q = Counted(1), Counted(n)
        chosen = p if n > 2 else q
        chosen.n += 1
        total = 0
        for x in chosen:
            total += x
        return total, p.seen, q.seen

    check_calls(f, *CALLS)


def test_one_of_two_managers_is_entered():
    def f(n):
        p, q = Counted(1), Counted(n)
        chosen = p if n > 2 else q
        with chosen as inside:
            inside.n += 2
            if n > 4:
                raise KeyError(3)
        return p.n, q.n, chosen.depth, chosen is p

    check_calls(f, *CALLS)


def test_a_negative_length():
    def f(n):
        found = []
        for i in range(n):
            found.append(Counted(i - 2))
        return [1 if item else 0 for item in found], len(found[-1])

    check_calls(f, *CALLS)


def test_attributes_are_added_and_deleted():
    def f(n):
        p, q = Plain(1), Plain(2)
        chosen = p if n > 2 else q
        chosen.value += 10
        chosen.other = n
        del chosen.value
        try:
            found = q.value
        except AttributeError:
            found = -1
        holder = {"k": chosen}
        holder["k"].other *= 2
        return found, hasattr(p, "other"), hasattr(q, "value"), chosen.other, chosen is p

    check_calls(f, *CALLS)


def test_the_attributes_of_one_of_two_are_plain_python():
    def f(n):
        p, q = Plain(n), Plain(2)
        return sorted(vars(p if n > 2 else q))

    compiled = autoconv.compile(f)
    assert [compiled(n) for n in (1, 3)] == [["value"], ["value"]]
    assert "plain Python" in compiled.explain()
