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
        node = self
        while True:
            if key < node.key:
                if node.left is None:
                    node.left = Tree(key)
                    return
                node = node.left
            else:
                if node.right is None:
                    node.right = Tree(key)
                    return
                node = node.right


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
        particle = Particle(1.0)
        particles = [particle]
        if n > 1:
            particles.append(Particle(2.0))
        particle.x = 7.0
        particle.extra = n
        particle.tags.append(n)
        first = particles[0]
        first.v += 1
        identities = first is particle, first == particle, particles[-1] is particle
        return particle, particles, identities, particle.extra, particle.energy, particle.v

    check_calls(f, *CALLS)

    def on_one_path(n):
        particle, particles = Particle(1.0), []
        if n > 1:
            particles.append(particle)
            particle.x += 1
        else:
            particle.x = 5.0
        particle.step(0.1)
        return particle.x, [p.x for p in particles], [p is particle for p in particles], particle

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
        found, stack, node = [], [], root
        while stack or node is not None:
            while node is not None:
                stack.append(node)
                node = node.left
            node = stack.pop()
            found.append(node.key)
            node = node.right
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
            node = root
            while True:
                side = "left" if key < node["key"] else "right"
                if node[side] is None:
                    node[side] = {"key": key, "left": None, "right": None}
                    break
                node = node[side]
        return root

    check_calls(f, *CALLS)


def test_classes_are_unchanged_after_a_trace():
    assert "x" not in vars(Particle)
    assert Particle.v == 1.0
    assert "value" not in vars(Node)
