"""RNN, GRU and LSTM. Rows of their weights are short, so that what a step makes of errors stays known."""
import numpy as np

from grow import step
from values import Unfit

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def rows_of_norm(g, shape, norm):
    """The magnitudes of each row add up to that."""
    w = g.random.standard_normal(shape)
    return (w * norm / np.maximum(np.abs(w).sum(-1, keepdims=True), 1e-6)).astype(np.float32)


@step(2)
def recurrent(g):
    x = g.value(lambda v: v.dtype == np.float32 and v.rank == 3 and v.has_elements and v.is_fixed(2))
    op, direction = g.among(sorted(GATES)), g.among(("forward", "reverse", "bidirectional"))
    g.everywhere(lambda: x.size <= 8 and x.shape[0] <= 12)
    directions, hidden, width = 2 if direction == "bidirectional" else 1, g.among((1, 3, 4, 8)), x.shape[2]
    rows = GATES[op] * hidden
    w, r = rows_of_norm(g, (directions, rows, width), 1.0), rows_of_norm(g, (directions, rows, hidden), 0.5)
    inputs = [x, g.constant(w), g.constant(r), g.constant(g.fresh((directions, 2 * rows), np.float32, plain=True) * np.float32(0.3)) if g.chance(0.6) else None]
    if g.chance(0.25) and x.is_fixed(0) and x.is_fixed(1):
        inputs.append(g.given(g.random.integers(1, x.shape[0] + 1, (x.shape[1],)).astype(np.int32)))
    else:
        inputs.append(None)
    states = 2 if op == "LSTM" else 1
    for _ in range(states):
        inputs.append(g.given(np.tanh(g.fresh((directions, x.shape[1], hidden), np.float32, plain=True))) if x.is_fixed(1) and g.chance(0.3) else None)
    attributes = {"hidden_size": hidden, "direction": direction}
    if op == "GRU":
        attributes["linear_before_reset"] = g.between(0, 1)

    def bound(y):
        """A sum of a gate is off by a; functions of gates have slopes of 1 at most, states are below 1 (a cell: below the number of steps)."""
        state = cell = 0.0
        for t in range(x.shape[0]):
            a = x.error + 0.5 * state + 2.0 ** -18 * (x.size + 2)
            if op == "RNN":
                state = a
            elif op == "GRU":
                state = state + 3 * a
            else:
                cell = cell + (t + 3) * a
                state = a + cell
        return state + cell

    there = g.among(([True, True], [True, False], [False, True])) + ([g.chance(0.3)] if op == "LSTM" else [])
    if not any(there):
        raise Unfit
    g.add(op, inputs, attributes, bound, outputs=there)
