#!/usr/bin/env python3
"""A decoder of Llama's kind as an ONNX file: norms by the mean square, rotary embeddings, grouped queries, gated perceptrons, caches of keys and values.

    python samples/llm/network.py 15m /tmp/15m.onnx
    python samples/llm/network.py 1b /tmp/1b.onnx --form generative --bits 4

Weights are random, from a seed; train.py trains those of `tiny`. They go to MODEL.onnx.data one by one, so the largest model needs no more memory than its
largest matrix. The two forms compute the same from the same weights:

    primitives   MatMul, Softmax, Concat and their like, as PyTorch exports a decoder
    generative   GroupQueryAttention and SkipSimplifiedLayerNormalization of com.microsoft, as ONNX Runtime's exporter for language models writes it
"""
import argparse
import math
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EPSILON, THETA, BLOCK = 1e-5, 10000.0, 32
MICROSOFT = "com.microsoft"
F32, I64 = TensorProto.FLOAT, TensorProto.INT64


@dataclass(frozen=True)
class Size:
    layers: int
    width: int
    heads: int
    groups: int  # heads of keys and values
    inner: int
    vocabulary: int
    positions: int  # of the rotary tables, which only the generative form has

    @property
    def depth(self):
        return self.width // self.heads


SIZES = {
    "tiny": Size(layers=4, width=128, heads=4, groups=2, inner=256, vocabulary=1024, positions=1024),
    "15m": Size(layers=6, width=288, heads=6, groups=6, inner=768, vocabulary=32000, positions=2048),
    "110m": Size(layers=12, width=768, heads=12, groups=12, inner=2048, vocabulary=32000, positions=2048),
    "1b": Size(layers=16, width=2048, heads=32, groups=8, inner=8192, vocabulary=32768, positions=4096),
}


def weight_shapes(size, tied):
    """Matrices are [in, out], but for the embeddings and the head: [vocabulary, width]."""
    rows = size.groups * size.depth
    shapes = {"embed_tokens": (size.vocabulary, size.width)}
    for layer in range(size.layers):
        shapes |= {
            f"layers.{layer}.input_norm": (size.width,),
            f"layers.{layer}.q_proj": (size.width, size.width),
            f"layers.{layer}.k_proj": (size.width, rows),
            f"layers.{layer}.v_proj": (size.width, rows),
            f"layers.{layer}.o_proj": (size.width, size.width),
            f"layers.{layer}.post_attention_norm": (size.width,),
            f"layers.{layer}.gate_proj": (size.width, size.inner),
            f"layers.{layer}.up_proj": (size.width, size.inner),
            f"layers.{layer}.down_proj": (size.inner, size.width),
        }
    shapes["norm"] = (size.width,)
    return shapes if tied else shapes | {"lm_head": (size.vocabulary, size.width)}


def random_weights(size, tied, seed):
    """A function from a weight's name to its elements, which depend on nothing but name, shape and seed."""
    shapes = weight_shapes(size, tied)

    def weight(name):
        shape, random = shapes[name], np.random.default_rng([seed, zlib.crc32(name.encode())])
        values = random.standard_normal(shape, np.float32)
        if len(shape) == 1:
            return 1 + np.float32(0.1) * values
        values *= np.float32(1 / math.sqrt(shape[0] if shape[0] != size.vocabulary else size.width))
        return values

    return weight


def quantised(matrix):
    """[columns, depth] in 4 bits as MatMulNBits has them: bytes [columns, blocks, BLOCK / 2] and scales [columns, blocks]. A code is 8 more than its value."""
    columns, depth = matrix.shape
    if depth % BLOCK != 0:
        raise SystemExit(f"network.py: --bits needs a width and an inner size that {BLOCK} divides")
    blocks = matrix.reshape(columns, depth // BLOCK, BLOCK)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[:, :, None], axis=2)
    scales = largest / -8
    codes = np.clip(np.rint(blocks / np.where(scales == 0, 1, scales)) + 8, 0, 15).astype(np.uint8)
    return codes[:, :, 0::2] | codes[:, :, 1::2] << 4, scales[:, :, 0].astype(np.float32)


class Writer:
    """Nodes and constants of the graph; large constants go to the data file as they come, where there is one."""

    def __init__(self, weight, data, half):
        self.weight, self.data, self.half = weight, data, half
        self.nodes, self.tensors = [], {}

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def constant(self, name, value, dtype=np.int64):
        value = np.ascontiguousarray(value, dtype)
        if name in self.tensors:
            return name
        if self.data is None or value.nbytes < 1024:
            self.tensors[name] = numpy_helper.from_array(value, name)
            return name
        self.data.write(bytes(-self.data.tell() % 4096))  # where a reader may map it
        entries = {"location": Path(self.data.name).name, "offset": self.data.tell(), "length": value.nbytes}
        value.tofile(self.data)
        tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(value.dtype), dims=value.shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.extend(onnx.StringStringEntryProto(key=key, value=str(entry)) for key, entry in entries.items())
        self.tensors[name] = tensor
        return name

    def number(self, name, value):
        return self.constant(name, value, np.float32)

    def vector(self, name):
        return self.constant(f"{name}.weight", self.weight(name), np.float32)

    def matrix(self, name):
        """As it is, or in 16 bits with a Cast behind it."""
        stored = self.stored(name)
        return stored if not self.half else self.node("Cast", [stored], f"{name}.f32", to=F32)

    def stored(self, name):
        whole = f"{name}.weight"
        return whole if whole in self.tensors else self.constant(whole, self.weight(name), np.float16 if self.half else np.float32)

    def rows(self, table, ids):
        rows = self.node("Gather", [self.stored(table), ids], f"{table}.rows")
        return rows if not self.half else self.node("Cast", [rows], f"{table}.rows.f32", to=F32)

    def silu_gated(self, linear, x, at):
        gate, up = linear(x, f"{at}.gate_proj"), linear(x, f"{at}.up_proj")
        silu = self.node("Mul", [gate, self.node("Sigmoid", [gate], f"{at}.sigmoid")], f"{at}.silu")
        return linear(self.node("Mul", [silu, up], f"{at}.gated"), f"{at}.down_proj")

    def by_columns(self, x, name):
        """x times the transposed [vocabulary, width]."""
        return self.node("MatMul", [x, self.node("Transpose", [self.matrix(name)], f"{name}.transposed", perm=[1, 0])], "logits")


class Primitives(Writer):
    inputs = ("input_ids", "attention_mask", "position_ids")

    def __init__(self, size, tied, *rest):
        super().__init__(*rest)
        self.size, self.head = size, "embed_tokens" if tied else "lm_head"

    def linear(self, x, name):
        return self.node("MatMul", [x, self.matrix(name)], name)

    def norm(self, x, name):
        squares = self.node("Pow", [x, self.number("two", 2)], f"{name}.squares")
        mean = self.node("Add", [self.node("ReduceMean", [squares, self.constant("last", [-1])], f"{name}.mean"), self.number("epsilon", EPSILON)], f"{name}.more")
        inverse = self.node("Reciprocal", [self.node("Sqrt", [mean], f"{name}.root")], f"{name}.inverse")
        return self.node("Mul", [self.vector(name), self.node("Mul", [x, inverse], f"{name}.scaled")], name)

    def range(self, count, name):
        ends = self.constant("none", 0), self.node("Squeeze", [count], f"{name}.end"), self.constant("one", 1)
        return self.node("Range", ends, name)

    def prepare(self):
        """The mask that is added to scores, [batch, 1, sequence, total], and cosines and sines, [batch, 1, sequence, depth]."""
        length = self.node("Shape", ["input_ids"], "length", start=1, end=2)
        past = self.node("Shape", ["past_key_values.0.key"], "past_length", start=2, end=3)
        keys = self.range(self.node("Add", [past, length], "total_length"), "keys")
        queries = self.node("Add", [self.range(length, "new"), past], "queries")
        queries = self.node("Unsqueeze", [queries, self.constant("columns", [0, 1, 3])], "queries.rows")
        causal = self.node("LessOrEqual", [self.node("Unsqueeze", [keys, self.constant("rows", [0, 1, 2])], "keys.row"), queries], "causal")
        shown = self.node("Unsqueeze", [self.node("Cast", ["attention_mask"], "shown", to=TensorProto.BOOL), self.constant("by_key", [1, 2])], "shown.keys")
        seen = self.node("And", [causal, shown], "seen")
        self.node("Where", [seen, self.number("zero", 0), self.number("lowest", np.finfo(np.float32).min)], "mask")
        self.constant("inv_freq", inverse_frequencies(self.size), np.float32)
        places = self.node("Unsqueeze", [self.node("Cast", ["position_ids"], "positions", to=F32), self.constant("last", [-1])], "positions.column")
        angles = self.node("Mul", [places, "inv_freq"], "half_angles")
        angles = self.node("Concat", [angles, angles], "angles", axis=-1)
        for op in ("Cos", "Sin"):
            self.node("Unsqueeze", [self.node(op, [angles], f"{op}.each"), self.constant("head_axis", [1])], op)

    def heads_of(self, x, heads, name):
        parts = self.constant(f"{heads}_heads", [0, 0, heads, self.size.depth])
        return self.node("Transpose", [self.node("Reshape", [x, parts], f"{name}.parts")], f"{name}.heads", perm=[0, 2, 1, 3])

    def rotated(self, x, name):
        half = self.size.depth // 2
        bounds = [self.constant(f"at_{k}", [k]) for k in (0, half, 2 * half)]
        first, second = (self.node("Slice", [x, bounds[k], bounds[k + 1], self.constant("last", [-1])], f"{name}.half_{k}") for k in (0, 1))
        turned = self.node("Concat", [self.node("Neg", [second], f"{name}.negated"), first], f"{name}.turned", axis=-1)
        return self.node("Add", [self.node("Mul", [x, "Cos"], f"{name}.cos"), self.node("Mul", [turned, "Sin"], f"{name}.sin")], f"{name}.rotated")

    def repeated(self, x, name):
        """Each head of keys or values for all queries of its group."""
        times = self.size.heads // self.size.groups
        if times == 1:
            return x
        wide = self.node("Unsqueeze", [x, self.constant("group_axis", [2])], f"{name}.wide")
        wide = self.node("Expand", [wide, self.constant("times", [1, 1, times, 1, 1])], f"{name}.expanded")
        return self.node("Reshape", [wide, self.constant("all_heads", [0, self.size.heads, -1, self.size.depth])], f"{name}.repeated")

    def attention(self, x, layer):
        at, size = f"layers.{layer}", self.size
        q = self.rotated(self.heads_of(self.linear(x, f"{at}.q_proj"), size.heads, f"{at}.q"), f"{at}.q")
        k = self.rotated(self.heads_of(self.linear(x, f"{at}.k_proj"), size.groups, f"{at}.k"), f"{at}.k")
        v = self.heads_of(self.linear(x, f"{at}.v_proj"), size.groups, f"{at}.v")
        k, v = (self.node("Concat", [f"past_key_values.{layer}.{kind}", new], f"present.{layer}.{kind}", axis=2) for kind, new in (("key", k), ("value", v)))
        k = self.node("Transpose", [self.repeated(k, f"{at}.k")], f"{at}.k.columns", perm=[0, 1, 3, 2])
        scores = self.node("Mul", [self.node("MatMul", [q, k], f"{at}.scores"), self.number("scale", size.depth**-0.5)], f"{at}.scaled")
        weights = self.node("Softmax", [self.node("Add", [scores, "mask"], f"{at}.masked")], f"{at}.weights", axis=-1)
        context = self.node("Transpose", [self.node("MatMul", [weights, self.repeated(v, f"{at}.v")], f"{at}.context")], f"{at}.context.rows", perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", [context, self.constant("joined", [0, 0, size.width])], f"{at}.attended"), f"{at}.o_proj")

    def build(self):
        x = self.rows("embed_tokens", "input_ids")
        self.prepare()
        for layer in range(self.size.layers):
            at = f"layers.{layer}"
            x = self.node("Add", [x, self.attention(self.norm(x, f"{at}.input_norm"), layer)], f"{at}.sum")
            x = self.node("Add", [x, self.silu_gated(self.linear, self.norm(x, f"{at}.post_attention_norm"), at)], f"{at}.out")
        self.by_columns(self.norm(x, "norm"), self.head)


class Generative(Writer):
    inputs = ("input_ids", "attention_mask")  # positions come from the mask

    def __init__(self, size, tied, separate, bits, *rest):
        super().__init__(*rest)
        self.size, self.head, self.separate, self.bits = size, "embed_tokens" if tied else "lm_head", separate, bits

    def product(self, x, columns, name):
        """x times a matrix, given as [columns, depth], in 4 bits."""
        codes, scales = quantised(columns)
        stored = self.constant(f"{name}.codes", codes, np.uint8), self.constant(f"{name}.scales", scales.reshape(-1), np.float32)
        return self.node("MatMulNBits", [x, *stored], name, domain=MICROSOFT, bits=4, block_size=BLOCK, K=columns.shape[1], N=columns.shape[0])

    def linear(self, x, name):
        return self.product(x, self.weight(name).T, name) if self.bits else self.node("MatMul", [x, self.matrix(name)], name)

    def packed(self, x, at):
        whole = np.concatenate([self.weight(f"{at}.{part}_proj") for part in "qkv"], axis=1)
        if self.bits:
            return self.product(x, whole.T, f"{at}.qkv_proj")
        stored = self.constant(f"{at}.qkv_proj.weight", whole, np.float16 if self.half else np.float32)
        matrix = stored if not self.half else self.node("Cast", [stored], f"{at}.qkv_proj.f32", to=F32)
        return self.node("MatMul", [x, matrix], f"{at}.qkv_proj")

    def prepare(self):
        shown = self.node("ReduceSum", ["attention_mask", self.constant("axis_1", [1])], "shown", keepdims=0)
        self.node("Cast", [self.node("Sub", [shown, self.constant("one", 1)], "last_key")], "seqlens_k", to=TensorProto.INT32)
        total = self.node("Gather", [self.node("Shape", ["attention_mask"], "mask_shape"), self.constant("place_1", 1)], "total", axis=0)
        self.node("Cast", [total], "total_sequence_length", to=TensorProto.INT32)
        angles = (np.arange(self.size.positions, dtype=np.float32)[:, None] * inverse_frequencies(self.size)).astype(np.float32)
        for name, values in (("cos_cache", np.cos(angles)), ("sin_cache", np.sin(angles))):
            self.constant(name, values, np.float32)

    def attention(self, x, layer):
        at, size = f"layers.{layer}", self.size
        qkv = [self.linear(x, f"{at}.{part}_proj") for part in "qkv"] if self.separate else [self.packed(x, at), "", ""]
        kept = [f"past_key_values.{layer}.key", f"past_key_values.{layer}.value"]
        results = [f"{at}.attended", f"present.{layer}.key", f"present.{layer}.value"]
        self.nodes.append(helper.make_node("GroupQueryAttention", [*qkv, *kept, "seqlens_k", "total_sequence_length", "cos_cache", "sin_cache"], results, results[0],
                                           domain=MICROSOFT, num_heads=size.heads, kv_num_heads=size.groups, scale=size.depth**-0.5, do_rotary=1,
                                           rotary_interleaved=0, local_window_size=-1))
        return self.linear(results[0], f"{at}.o_proj")

    def added(self, x, y, name, last=False):
        """The norm of x + y, and x + y."""
        results = [name] if last else [name, "", "", f"{name}.sum"]
        self.nodes.append(helper.make_node("SkipSimplifiedLayerNormalization", [x, y, self.vector(name)], results, name, domain=MICROSOFT, epsilon=EPSILON))
        return name, results[-1]

    def build(self):
        x = self.rows("embed_tokens", "input_ids")
        self.prepare()
        normed = self.node("SimplifiedLayerNormalization", [x, self.vector("layers.0.input_norm")], "layers.0.input_norm", axis=-1, epsilon=EPSILON, stash_type=1)
        for layer in range(self.size.layers):
            at, last = f"layers.{layer}", layer + 1 == self.size.layers
            normed, x = self.added(x, self.attention(normed, layer), f"{at}.post_attention_norm")
            normed, x = self.added(x, self.silu_gated(self.linear, normed, at), "norm" if last else f"layers.{layer + 1}.input_norm", last)
        if self.bits:
            self.product(normed, self.weight(self.head), "logits")
        else:
            self.by_columns(normed, self.head)


def inverse_frequencies(size):
    return (THETA ** (-np.arange(0, size.depth, 2) / size.depth)).astype(np.float32)


def write(path, size, weight, form="primitives", tied=True, separate=False, bits=0, half=False, external=True):
    """weight: a function from a name of weight_shapes to an array."""
    path = Path(path)
    data = path.with_name(path.name + ".data").open("wb") if external else None
    rest = (weight, data, half)
    writer = Primitives(size, tied, *rest) if form == "primitives" else Generative(size, tied, separate, bits, *rest)
    writer.build()
    if data:
        data.close()
    info = helper.make_tensor_value_info
    inputs = [info(name, I64, ["batch", "total" if name == "attention_mask" else "sequence"]) for name in writer.inputs]
    outputs = [info("logits", F32, ["batch", "sequence", size.vocabulary])]
    for layer in range(size.layers):
        for kind in ("key", "value"):
            inputs.append(info(f"past_key_values.{layer}.{kind}", F32, ["batch", size.groups, "past", size.depth]))
            outputs.append(info(f"present.{layer}.{kind}", F32, ["batch", size.groups, "total", size.depth]))
    graph = helper.make_graph(writer.nodes, "decoder", inputs, outputs, list(writer.tensors.values()))
    opsets = [helper.make_opsetid("", 18), *([helper.make_opsetid(MICROSOFT, 1)] if form == "generative" else [])]
    onnx.save(helper.make_model(graph, producer_name="samples/llm/network.py", ir_version=8, opset_imports=opsets), path)
    if form == "primitives":  # the checker knows no operators of others
        onnx.checker.check_model(str(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", choices=list(SIZES))
    parser.add_argument("model", type=Path)
    parser.add_argument("--form", choices=("primitives", "generative"), default="primitives")
    parser.add_argument("--untied", action="store_true", help="a head of its own, not the embeddings")
    parser.add_argument("--separate", action="store_true", help="generative: three products for queries, keys and values, not one")
    parser.add_argument("--bits", type=int, choices=(4,), default=0, help="generative: matrices in 4 bits, for MatMulNBits")
    parser.add_argument("--half", action="store_true", help="matrices are stored in 16 bits")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.form == "primitives" and (args.bits or args.separate):
        parser.error("--bits and --separate are for --form generative")
    size, tied = SIZES[args.size], not args.untied
    write(args.model, size, random_weights(size, tied, args.seed), args.form, tied, args.separate, args.bits, args.half)
    count = sum(math.prod(shape) for shape in weight_shapes(size, tied).values())
    print(f"{args.model}: {count / 1e6:.1f} million parameters")


if __name__ == "__main__":
    main()
