"""An item of a list that is an input of a trace, while the program replaces the item by another name of the list."""

import numpy as np

import autoconv

ROWS = []


class Net:
    def __init__(self):
        self.state = {"rows": [np.ones(3), np.arange(3.0)]}


def update(net, x):
    net.state["rows"][0] *= 0.5
    ROWS.pop(0)
    for i, row in enumerate(net.state["rows"]):
        net.state["rows"][i] = row + x


def test_items_that_a_loop_replaces_stay_replaced():
    for is_shared in (False, True):
        compiled = autoconv.compile(update)
        for call in range(4):
            outcomes = []
            for function in (update, compiled):
                net = Net()
                first = net.state["rows"][0]
                ROWS[:] = [first if is_shared else np.ones(3), np.zeros(3)]
                function(net, np.full(3, 2.0 * call))
                outcomes.append(repr((net.state, first, ROWS)))
            assert outcomes[0] == outcomes[1]
