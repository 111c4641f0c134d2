"""RNN, GRU and LSTM in all their forms."""
import numpy as np

from spec import Spec, generator

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
SIMPLE = ["Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"]
WITH_ALPHA = ["LeakyRelu", "ThresholdedRelu", "Elu"]
WITH_BOTH = ["Affine", "ScaledTanh", "HardSigmoid"]


@generator("RNN", "GRU", "LSTM", weight=2)
def recurrent(d, op):
    opset = d.opset(op, least=7)
    kind = d.kind(op, opset) if d.chance(0.3) else np.dtype(np.float32)
    steps, batch, width, hidden = d.int(1, 5), d.int(1, 3), d.int(1, 5), d.one(1, 2, 3, 8, 17)
    direction = d.one("forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    batch_first = opset >= 14 and d.chance(0.15)
    g = GATES[op]
    make = lambda *shape: d.array(shape, kind, "plain", -0.6, 0.6)
    state = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    inputs = [make(*((batch, steps, width) if batch_first else (steps, batch, width))), make(directions, g * hidden, width), make(directions, g * hidden, hidden),
              d.maybe(0.7, lambda: make(directions, 2 * g * hidden)), d.maybe(0.4, lambda: np.array(d.ints(batch, 1, steps), np.int32)), d.maybe(0.4, lambda: make(*state))]
    attributes = {"hidden_size": hidden}
    if direction != "forward" or d.chance(0.5):
        attributes["direction"] = direction
    if batch_first:
        attributes["layout"] = 1
    if op == "LSTM":
        inputs += [d.maybe(0.4, lambda: make(*state)), d.maybe(0.3, lambda: make(directions, 3 * hidden))]
        if d.chance(0.15):
            attributes["input_forget"] = 1
    if op == "GRU" and d.chance(0.5):
        attributes["linear_before_reset"] = d.int(0, 1)
    if d.chance(0.2):
        attributes["clip"] = d.uniform(0.2, 1)
    if d.chance(0.3):
        count = FUNCTIONS[op] * directions
        attributes["activations"] = chosen = [d.among(SIMPLE) for _ in range(count)]
        if d.chance(0.4):
            family = d.one(WITH_ALPHA, WITH_BOTH)
            attributes["activations"] = chosen = [d.among(family) for _ in range(count)]
            attributes["activation_alpha"] = [d.uniform(0.1, 0.9) for _ in chosen]
            if family is WITH_BOTH:
                attributes["activation_beta"] = [d.uniform(0.1, 0.9) for _ in chosen]
    outputs = [d.chance(0.8), d.chance(0.8)] + ([d.chance(0.7)] if op == "LSTM" else [])
    if not any(outputs):
        outputs[0] = True
    return Spec(op, inputs, attributes, outputs, opset, constants=(1, 2, 3), rigid=(0, 4, 5, 6, 7) if d.chance(0.5) else (), rtol=1e-3 if kind.itemsize > 2 else 1e-2,
                atol=1e-5 if kind.itemsize > 2 else 1e-2)
