"""RNN, GRU and LSTM in all their forms."""
from onnx.reference import ReferenceEvaluator

from case import case, np

STEPS, BATCH, INPUT, HIDDEN = 5, 3, 4, 6


def weights(rng, op, directions, dtype=np.float32, hidden=HIDDEN):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    make = lambda *shape: (rng.standard_normal(shape) * 0.4).astype(dtype)
    return {"W": make(directions, gates * hidden, INPUT), "R": make(directions, gates * hidden, hidden), "B": make(directions, 2 * gates * hidden)}


def form(name, op, direction="forward", layout=None, lengths=False, initial=False, bias=True, peepholes=False, outputs=None, dtype=np.float32, opset=14, constant=True,
         hidden=HIDDEN, rtol=1e-4, steps=STEPS, **attributes):
    rng = np.random.default_rng(sum(map(ord, name)))
    directions = 2 if direction == "bidirectional" else 1
    w = weights(rng, op, directions, dtype, hidden)
    first = layout == 1
    x = rng.standard_normal((BATCH, steps, INPUT) if first else (steps, BATCH, INPUT)).astype(dtype)
    state = (BATCH, directions, hidden) if first else (directions, BATCH, hidden)
    make_state = lambda: (rng.standard_normal(state) * 0.5).astype(dtype)
    inputs = [x, w["W"], w["R"], w["B"] if bias else None, np.array([5, 2, 4] if lengths is True else lengths, np.int32) if lengths else None, make_state() if initial else None]
    if op == "LSTM":
        inputs += [make_state() if initial else None, (rng.standard_normal((directions, 3 * hidden)) * 0.3).astype(dtype) if peepholes else None]
    while inputs[-1] is None:
        inputs.pop()
    attributes = {"hidden_size": hidden, "direction": direction, **attributes}
    if layout is not None:
        attributes["layout"] = layout
    made = case(f"{op.lower()}_{name}", op, inputs, outputs or (3 if op == "LSTM" else 2), (1, 2, 3) if constant else (), "", opset, attributes, rtol=rtol, atol=2e-3 if dtype == np.float16 else 1e-5)
    if dtype != np.float32 or first:  # ONNX Runtime has neither
        made.wanted = ReferenceEvaluator(made.model).run(None, made.feeds)
    return made


def without_steps(name, op, steps, lengths=None, **more):
    """A tensor of no steps leaves the states as they were, so a sequence may be run in parts. Of a row whose length is 0 ONNX says nothing; ONNX Runtime ends it in zeros."""
    made = form(name, op, "bidirectional", steps=steps, lengths=lengths, initial=True, **more)
    if steps == 0:
        states = [made.feeds[f"x{i}"] for i in ((5, 6) if op == "LSTM" else (5,))]
        made.wanted = [np.zeros((steps, 2, BATCH, HIDDEN), np.float32), *states]
    return made


def cases():
    for op in ("RNN", "GRU", "LSTM"):
        f = {"RNN": 1, "GRU": 2, "LSTM": 3}[op]
        yield form("plain", op, bias=False)
        yield form("weights_are_inputs", op, constant=False)
        yield form("backward", op, "reverse", lengths=True, initial=True)
        yield form("both", op, "bidirectional", lengths=True, initial=True)
        yield form("last_only", op, outputs=[False, True])
        yield form("sequence_only", op, "bidirectional", outputs=[True])
        yield form("clip", op, clip=0.25, initial=True)
        yield form("wide", op, hidden=40)
        yield form("opset_7", op, opset=7, initial=True)
        yield without_steps("no_steps", op, 0)
        yield without_steps("lengths_of_none", op, 4, [0, 0, 0])
        yield without_steps("one_of_length_0", op, 4, [0, 4, 2])
        yield form("activations", op, activations=["HardSigmoid", "LeakyRelu", "Softsign"][:f], activation_alpha=[0.3, 0.1][:f], activation_beta=[0.4])
        yield form("activations_both", op, "bidirectional", activations=(["ScaledTanh", "Elu", "Relu"][:f] + ["Affine", "ThresholdedRelu", "Softplus"][:f]),
                   activation_alpha=([0.7, 1.1][:f] + [0.5, 0.6][:f]), activation_beta=[0.9, 0.2])
    for reset in (0, 1):
        yield form(f"reset_{reset}", "GRU", "bidirectional", linear_before_reset=reset, lengths=True, initial=True)
        yield form(f"reset_no_bias_{reset}", "GRU", linear_before_reset=reset, bias=False)
        yield form(f"reset_clip_{reset}", "GRU", linear_before_reset=reset, clip=0.4)
    yield form("peepholes", "LSTM", "bidirectional", peepholes=True, initial=True, lengths=True)
    yield form("input_forget", "LSTM", input_forget=1, initial=True)
    yield form("peepholes_input_forget", "LSTM", input_forget=1, peepholes=True, clip=0.5)
    yield form("f64", "LSTM", dtype=np.float64, initial=True, rtol=1e-9)
    yield form("f64", "RNN", dtype=np.float64, initial=True, rtol=1e-9)
    yield form("f64", "GRU", dtype=np.float64, initial=True, rtol=1e-9)
    for op in ("RNN", "GRU", "LSTM"):
        yield form("f16", op, dtype=np.float16, initial=True, rtol=2e-2)
        yield form("batch_first", op, layout=1, initial=True)
