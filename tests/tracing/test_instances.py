"""Objects of user classes that traced code makes: items of lists, linked objects, and results."""

from dataclasses import dataclass, field

from tests.tracing.test_objects import check_calls

CALLS = (0,), (1,), (3,), (6,)


@dataclass
class Particle:
    x: float
    v: float = 1.0
    tags: list = field(default_factory=list)

    def step(self, time):
        self.x += self.v * time
        if self.x > 1:
            self.v = -self.v
        return self

    @property
    def energy(self):
        return self.v**2 + self.x


class Node:
    def __init__(self, value, following=None):
        self.value = value
        self.next = following

    def depth(self):
        return 1


class Leaf(Node):
    def depth(self):
        return self.value


class Tree:
    def __init__(self, key):
        self.key = key
        self.left = self.right = None

    def insert(self, key):
        now = self
        while True:
            if key < now.key:
                if now.left is None:
                    now.left = Tree(key)
                    return
                now = now.left
            else:
                if now.right is None:
                    now.right = Tree(key)
                    return
                now = now.right


def test_a_linked_list():
    def f(n):
        head = None
        for i in range(n):
            head = Node(i, head)
        before = None
        while head is not None:
            following = head.next
            head.next = before
            before, head = head, following
        found = []
        while before is not None:
            found.append(before.value)
            before = before.next
        return found

    check_calls(f, *CALLS)


def test_a_list_of_objects():
    def f(n):
        particles = []
        for i in range(n):
            particles.append(Particle(i * 0.5))
        for particle in particles:
            particle.step(0.7)
        best = None
        for particle in particles:
            if best is None or particle.energy > best.energy:
                best = particle
        return sum(p.x for p in particles), [(p.x, p.v) for p in particles], None if best is None else best.x

    check_calls(f, *CALLS)
    check_calls(lambda n: [Particle(i * 0.5) for i in range(n)], *CALLS)


def test_one_object_under_several_names():
    def f(n):
        one = Particle(1.0)
        several = [one]
        if n > 1:
            several.append(Particle(2.0))
        one.x = 7.0
        one.extra = n
        one.tags.append(n)
        first = several[0]
        first.v += 1
        return one, several, first is one, first == one, one.extra, several[-1] is one, one.energy, one.v

    check_calls(f, *CALLS)

    def on_one_path(n):
        one, several = Particle(1.0), []
        if n > 1:
            several.append(one)
            one.x += 1
        else:
            one.x = 5.0
        one.step(0.1)
        return one.x, [p.x for p in several], [p is one for p in several], one

    check_calls(on_one_path, *CALLS)


def test_methods_by_class():
    def f(n):
        nodes = []
        for i in range(n):
            nodes.append(Node(i) if i % 2 else Leaf(i))
        return [node.depth() for node in nodes], sum(node.value for node in nodes)

    check_calls(f, *CALLS)


def test_a_tree():
    def f(n):
        root = Tree(5)
        for i in range(n):
            root.insert(i * 7 % 11)
        found, stack, now = [], [], root
        while stack or now is not None:
            while now is not None:
                stack.append(now)
                now = now.left
            now = stack.pop()
            found.append(now.key)
            now = now.right
        return found

    check_calls(f, *CALLS)


def test_a_tree_of_dicts():
    def f(n):
        root = None
        for i in range(n):
            key = i * 7 % 5
            if root is None:
                root = {"key": key, "left": None, "right": None}
                continue
            now = root
            while True:
                side = "left" if key < now["key"] else "right"
                if now[side] is None:
                    now[side] = {"key": key, "left": None, "right": None}
                    break
                now = now[side]
        return root

    check_calls(f, *CALLS)


def test_classes_are_unchanged_after_a_trace():
    assert "x" not in vars(Particle)
    assert Particle.v == 1.0
    assert "value" not in vars(Node)
