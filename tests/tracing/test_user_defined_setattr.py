"""Objects whose classes define `__setattr__`, `__delattr__` or `__getattr__`: traces do not write through these."""

import autoconv as ac


class Held:
    pass


class Proxy:
    def __init__(self, held):
        object.__setattr__(self, "log", [])
        object.__setattr__(self, "held", held)

    def __getattr__(self, name):
        self.log.append(name)
        return getattr(self.held, name)

    def __setattr__(self, name, value):
        self.log.append(("set", name))
        setattr(self.held, name, value)

    def __delattr__(self, name):
        self.log.append(("delete", name))
        delattr(self.held, name)


class Observed:
    def __init__(self):
        object.__setattr__(self, "seen", [])
        self.a = 1

    def __setattr__(self, name, value):
        self.seen.append((name, value))
        object.__setattr__(self, name, value)


def state(proxy):
    inner_state = getattr(vars(proxy).get("held"), "__dict__", None)
    return {name: value for name, value in vars(proxy).items() if name != "held"}, inner_state


def check(function, make):
    expected, found = make(), make()
    compiled = ac.compile(function)
    for x in (0.0, 1.0, 4.0, 2.0):
        assert compiled(found, x) == function(expected, x)
        assert state(found) == state(expected)


def through_a_proxy(proxy, x):
    proxy.z = x
    proxy.z = proxy.z + x
    if x > 1:
        proxy.w = proxy.z
    return proxy.z * 2, hasattr(proxy, "w")


def set_and_deleted(proxy, x):
    proxy.z = x
    found = proxy.z
    del proxy.z
    return found


def observed(observed_object, x):
    observed_object.a = x
    if x > 2:
        observed_object.a = observed_object.a + x
    while observed_object.a < x:
        observed_object.a += 1
    return observed_object.a, len(observed_object.seen)


def test_arguments():
    check(through_a_proxy, lambda: Proxy(Held()))
    check(set_and_deleted, lambda: Proxy(Held()))
    check(observed, Observed)


PLAIN, COMPILED = Proxy(Held()), Proxy(Held())


def outside_plain(x):
    PLAIN.z = x
    PLAIN.z = PLAIN.z + x
    return PLAIN.z


def outside_compiled(x):
    COMPILED.z = x
    COMPILED.z = COMPILED.z + x
    return COMPILED.z


def test_outer_objects():
    compiled = ac.compile(outside_compiled)
    for x in (0.0, 1.0, 4.0):
        assert compiled(x) == outside_plain(x)
        assert state(COMPILED) == state(PLAIN)
