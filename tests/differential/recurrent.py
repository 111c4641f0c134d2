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
              d.maybe(0.7, lambda: make(directions, 2 * g * hidden)), d.maybe(0.4, lambda: np.array(d.ints(batch, 0, steps), np.int32)), d.maybe(0.4, lambda: make(*state))]
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


@generator("com.microsoft.DynamicQuantizeLSTM", weight=2)
def dynamic_quantize_lstm(d, op):
    steps, batch, width, hidden = d.one(1, 1, 2, 4), d.int(1, 3), d.int(1, 5), d.one(1, 2, 3, 8, 17, 33)
    direction = d.one("forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    make = lambda *shape: d.array(shape, np.float32, "plain", -0.6, 0.6)
    shape = [directions, 4 * hidden] if d.chance(0.5) else [directions]
    kinds = [np.dtype(d.one(np.int8, np.uint8))] * 2
    # Without VNNI ONNX Runtime adds pairs of products in 16 bits, which saturate beyond 7 bits.
    low, high = (lambda k: -64 if k == np.int8 else 0), (lambda k: 63 if k == np.int8 else 127)
    weights = [d.array([directions, rows, 4 * hidden], k, "plain", low(k), high(k)) for rows, k in zip((width, hidden), kinds)]
    scales = [d.array(shape, np.float32, "plain", 0.002, 0.01) for _ in weights]
    zeros = [np.full(shape, 0 if k == np.int8 else d.int(0, 127), k) for k in kinds]
    lengths = d.maybe(0.4, lambda: np.array(d.ints(batch, 0, steps), np.int32))
    inputs = [make(steps, batch, width) * np.float32(d.one(1, 5)), *weights, d.maybe(0.7, lambda: make(directions, 8 * hidden)), lengths,
              d.maybe(0.6, lambda: make(directions, batch, hidden)), d.maybe(0.4, lambda: make(directions, batch, hidden)), d.maybe(0.3, lambda: make(directions, 3 * hidden)),
              scales[0], zeros[0], scales[1], zeros[1]]
    attributes = {"hidden_size": hidden, "direction": direction}
    if d.chance(0.15):
        attributes["input_forget"] = 1
    if d.chance(0.2):
        attributes["clip"] = d.uniform(0.2, 1)
    if d.chance(0.3):
        attributes["activations"] = [d.among(["Tanh", "Sigmoid", "Softsign"]) for _ in range(3 * directions)]
    # Where Y is absent ONNX Runtime counts the last h of sequences that are over.
    outputs = [lengths is not None or d.chance(0.8), d.chance(0.8), d.chance(0.7)]
    if not any(outputs):
        outputs[0] = True
    # One step rounds the same h as ONNX Runtime. Before another one h has errors of other functions, so that a byte may be the next one: 2 / 255 times a weight in a gate,
    # of which c and h keep at most as much, once in a gate's own sum and once through c.
    step = 2 / 255 * float(np.max(np.abs(weights[1].astype(np.float64) - zeros[1].max())) * scales[1].max())
    return Spec("DynamicQuantizeLSTM", inputs, attributes, outputs, opset=21, domain="com.microsoft", constants=(1, 2, 3, 7, 8, 9, 10, 11), rigid=(0, 4, 5, 6) if d.chance(0.5) else (),
                rtol=1e-4, atol=5e-6 if steps == 1 else 2 * step)
