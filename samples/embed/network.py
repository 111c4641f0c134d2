"""A small BERT in numpy: its values, its gradients by hand, and the ONNX file."""
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, INNER, LAYERS, POSITIONS = 64, 4, 128, 2, 128
DEPTH = WIDTH // HEADS
EPSILON = 1e-12
PARTS = {"query": (WIDTH, WIDTH), "key": (WIDTH, WIDTH), "value": (WIDTH, WIDTH), "output": (WIDTH, WIDTH), "up": (WIDTH, INNER), "down": (INNER, WIDTH)}


def made_params(pieces, random):
    params = {}
    for name, rows in (("word", pieces), ("position", POSITIONS), ("type", 2)):
        params[f"embeddings.{name}.weight"] = random.standard_normal((rows, WIDTH)) * 0.05
    norms = ["embeddings.norm"]
    for layer in range(LAYERS):
        for part, shape in PARTS.items():
            params[f"layer.{layer}.{part}.weight"] = random.standard_normal(shape) / math.sqrt(shape[0])
            params[f"layer.{layer}.{part}.bias"] = np.zeros(shape[1])
        norms += [f"layer.{layer}.attention_norm", f"layer.{layer}.norm"]
    for norm in norms:
        params[f"{norm}.weight"], params[f"{norm}.bias"] = np.ones(WIDTH), np.zeros(WIDTH)
    return {name: value.astype(np.float32) for name, value in params.items()}


def erf(x):
    """By Abramowitz and Stegun's formula 7.1.26; the error is below 2e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - tail * np.exp(-x * x))


class Tape:
    """Values forwards; each step leaves a function that takes the gradient of its result to those of its operands."""

    def __init__(self, params):
        self.params, self.steps = params, []
        self.gradients = {name: np.zeros_like(p) for name, p in params.items()}

    def linear(self, x, name):
        weight = self.params[f"{name}.weight"]

        def back(d):
            rows = d.reshape(-1, d.shape[-1])
            self.gradients[f"{name}.weight"] += x.reshape(-1, x.shape[-1]).T @ rows
            self.gradients[f"{name}.bias"] += rows.sum(axis=0)
            return d @ weight.T

        return x @ weight + self.params[f"{name}.bias"], back

    def norm(self, x, name):
        weight = self.params[f"{name}.weight"]
        inverse = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + EPSILON)
        scaled = (x - x.mean(axis=-1, keepdims=True)) * inverse

        def back(d):
            self.gradients[f"{name}.weight"] += (d * scaled).sum(axis=(0, 1))
            self.gradients[f"{name}.bias"] += d.sum(axis=(0, 1))
            d = d * weight
            return inverse * (d - d.mean(axis=-1, keepdims=True) - scaled * (d * scaled).mean(axis=-1, keepdims=True))

        return scaled * weight + self.params[f"{name}.bias"], back

    def attention(self, x, layer, mask):
        n, length, _ = x.shape
        heads = lambda v: v.reshape(n, length, HEADS, DEPTH).transpose(0, 2, 1, 3)
        joined = lambda v: v.transpose(0, 2, 1, 3).reshape(n, length, WIDTH)
        (q, back_q), (k, back_k), (v, back_v) = (self.linear(x, f"layer.{layer}.{part}") for part in ("query", "key", "value"))
        q, k, v = heads(q), heads(k), heads(v)
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(DEPTH) + (mask[:, None, None] - 1) * 1e4
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        y, back_out = self.linear(joined(weights @ v), f"layer.{layer}.output")

        def back(d):
            d = heads(back_out(d))
            dw = d @ v.swapaxes(-1, -2)
            ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True)) / math.sqrt(DEPTH)
            return back_q(joined(ds @ k)) + back_k(joined(ds.swapaxes(-1, -2) @ q)) + back_v(joined(weights.swapaxes(-1, -2) @ d))

        return y, back

    def feed_forward(self, x, layer):
        h, back_up = self.linear(x, f"layer.{layer}.up")
        gate = 0.5 * (1 + erf(h / np.float32(math.sqrt(2))))
        y, back_down = self.linear(h * gate, f"layer.{layer}.down")
        slope = gate + h * np.exp(-0.5 * h * h) / np.float32(math.sqrt(2 * math.pi))
        return y, lambda d: back_up(back_down(d) * slope)


def sentence_vectors(params, ids, mask):
    """[n, length] numbers and their mask -> [n, WIDTH] of length 1, and a function from their gradient to those of the parameters."""
    tape, mask = Tape(params), mask.astype(np.float32)
    embedded = params["embeddings.word.weight"][ids] + params["embeddings.position.weight"][: ids.shape[1]] + params["embeddings.type.weight"][0]
    x, back_embedded = tape.norm(embedded, "embeddings.norm")
    blocks = []
    for layer in range(LAYERS):
        y, back_y = tape.attention(x, layer, mask)
        x, back_norm = tape.norm(x + y, f"layer.{layer}.attention_norm")
        blocks.append((back_y, back_norm))
        y, back_y = tape.feed_forward(x, layer)
        x, back_norm = tape.norm(x + y, f"layer.{layer}.norm")
        blocks.append((back_y, back_norm))
    share = mask / mask.sum(axis=1, keepdims=True)
    mean = (x * share[:, :, None]).sum(axis=1)
    size = np.sqrt((mean * mean).sum(axis=1, keepdims=True))
    vectors = mean / size

    def back(d):
        d = (d - vectors * (d * vectors).sum(axis=1, keepdims=True)) / size
        d = d[:, None] * share[:, :, None]
        for back_y, back_norm in reversed(blocks):
            d = back_norm(d)
            d = d + back_y(d)
        d = back_embedded(d)
        np.add.at(tape.gradients["embeddings.word.weight"], ids, d)
        tape.gradients["embeddings.position.weight"][: ids.shape[1]] += d.sum(axis=0)
        tape.gradients["embeddings.type.weight"][0] += d.sum(axis=(0, 1))
        return tape.gradients

    return vectors, back


class Writer:
    """Nodes and weights of an ONNX graph; matrices are stored in 16 bits."""

    def __init__(self, params):
        self.params, self.nodes, self.tensors = params, [], {}

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def constant(self, name, value, dtype=np.int64):
        self.tensors[name] = np.array(value, dtype)
        return name

    def parameter(self, name):
        """A vector as it is, a matrix as 16 bits and a Cast."""
        value = self.params[name]
        if value.ndim == 1:
            return self.constant(name, value, np.float32)
        return self.node("Cast", [self.constant(name, value, np.float16)], f"{name}.f32", to=TensorProto.FLOAT)

    def rows(self, table, ids):
        gathered = self.node("Gather", [self.constant(f"{table}.weight", self.params[f"{table}.weight"], np.float16), ids], f"{table}.rows")
        return self.node("Cast", [gathered], f"{table}.f32", to=TensorProto.FLOAT)

    def linear(self, x, name):
        product = self.node("MatMul", [x, self.parameter(f"{name}.weight")], f"{name}.product")
        return self.node("Add", [product, self.parameter(f"{name}.bias")], name)

    def norm(self, x, name):
        return self.node("LayerNormalization", [x, self.parameter(f"{name}.weight"), self.parameter(f"{name}.bias")], name, axis=-1, epsilon=EPSILON)

    def attention(self, x, at, blocked):
        q, k, v = (
            self.node("Transpose", [self.node("Reshape", [self.linear(x, f"{at}.{part}"), "by_head"], f"{at}.{part}.by_head")], f"{at}.{part}.heads", perm=perm)
            for part, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        scaled = self.node("Div", [self.node("MatMul", [q, k], f"{at}.scores"), "root_of_depth"], f"{at}.scaled")
        weights = self.node("Softmax", [self.node("Add", [scaled, blocked], f"{at}.masked")], f"{at}.weights", axis=-1)
        context = self.node("Transpose", [self.node("MatMul", [weights, v], f"{at}.context")], f"{at}.context.rows", perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", [context, "joined"], f"{at}.context.joined"), f"{at}.output")

    def feed_forward(self, x, at):
        h = self.linear(x, f"{at}.up")
        gate = self.node("Erf", [self.node("Div", [h, "root_of_two"], f"{at}.erf.in")], f"{at}.erf")
        gate = self.node("Mul", [self.node("Add", [gate, "one"], f"{at}.gate2"), "half"], f"{at}.gate")
        return self.linear(self.node("Mul", [h, gate], f"{at}.gelu"), f"{at}.down")


def export(params, path):
    """As exports of BERT look: input_ids, attention_mask, token_type_ids [batch, sequence] -> last_hidden_state [batch, sequence, WIDTH]."""
    w = Writer(params)
    for name, value in (("root_of_depth", math.sqrt(DEPTH)), ("root_of_two", math.sqrt(2)), ("one", 1), ("half", 0.5), ("lowest", np.finfo(np.float32).min)):
        w.constant(name, value, np.float32)
    for name, value in (("by_head", [0, 0, HEADS, DEPTH]), ("joined", [0, 0, WIDTH]), ("zero", [0]), ("axis_1", [1]), ("axes_1_2", [1, 2])):
        w.constant(name, value)
    length = w.node("Shape", ["input_ids"], "length", start=1, end=2)
    positions = w.node("Slice", [w.constant("position_ids", [range(POSITIONS)]), "zero", length, "axis_1"], "positions")
    words, places, types = w.rows("embeddings.word", "input_ids"), w.rows("embeddings.position", positions), w.rows("embeddings.type", "token_type_ids")
    x = w.norm(w.node("Add", [w.node("Add", [words, types], "typed"), places], "embedded"), "embeddings.norm")
    mask = w.node("Cast", [w.node("Unsqueeze", ["attention_mask", "axes_1_2"], "mask")], "mask.f32", to=TensorProto.FLOAT)
    blocked = w.node("Mul", [w.node("Sub", ["one", mask], "absent"), "lowest"], "blocked")
    for layer in range(LAYERS):
        at = f"layer.{layer}"
        x = w.norm(w.node("Add", [x, w.attention(x, at, blocked)], f"{at}.attended"), f"{at}.attention_norm")
        x = w.norm(w.node("Add", [x, w.feed_forward(x, at)], f"{at}.fed"), f"{at}.norm")
    w.node("Identity", [x], "last_hidden_state")
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "sequence"]) for n in ("input_ids", "attention_mask", "token_type_ids")]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", WIDTH])
    graph = helper.make_graph(w.nodes, "embed", inputs, [output], [numpy_helper.from_array(value, name) for name, value in w.tensors.items()])
    model = helper.make_model(graph, producer_name="samples/embed/train.py", ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
