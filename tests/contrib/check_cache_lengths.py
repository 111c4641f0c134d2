"""Attention over a cache whose lengths only a run knows, as ONNX Runtime's generative exporter writes it, against ONNX Runtime.

All extents but heads and sizes are symbols, and the total length is a number of the run: an input, or taken from a mask. `places` is how many the cache has, and
`tokens` how many come to the `before` that are there; a cache that is shared with its successor has room for more.
"""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from harness import check_model, numbers

HEADS, GROUPS, SIZE = 4, 2, 16
angle = np.arange(32)[:, None] * (1 / 100 ** (np.arange(SIZE // 2) / (SIZE // 2)))[None]
TURNS = {"x7": np.cos(angle).astype(np.float32), "x8": np.sin(angle).astype(np.float32)}


def total_of_mask():
    """seqlens_k and total_sequence_length of a mask [batch, total], as exporters compute them."""
    node = helper.make_node
    return [node("ReduceSum", ["mask", "last"], ["shown"], keepdims=0), node("Sub", ["shown", "one"], ["longest"]), node("Cast", ["longest"], ["x5"], to=T.INT32),
            node("Shape", ["mask"], ["extents"]), node("Gather", ["extents", "place"], ["columns"], axis=0), node("Cast", ["columns"], ["x6"], to=T.INT32)], {
        "last": np.array([1]), "one": np.array([1]), "place": np.array(1)}


def gqa(name, tokens, before, places=None, batch=1, lengths=None, masked=False, packed=False, list_of_one=False, **attributes):
    places = before if places is None else places
    shared = {1: 3, 2: 4} if places > before else None
    rotary = attributes.get("do_rotary", 0)
    feeds = {f"x{i}": numbers(batch, tokens, heads * SIZE, seed=i) for i, heads in enumerate((HEADS, GROUPS, GROUPS))}
    if packed:
        feeds = {"x0": np.concatenate(list(feeds.values()), 2)}
    feeds |= {f"x{i}": numbers(batch, GROUPS, places, SIZE, seed=i) for i in (3, 4)}
    lengths = [before + tokens] * batch if lengths is None else lengths
    total = max(lengths)
    nodes, constants = total_of_mask() if masked else ([], {})
    if masked:
        feeds["mask"] = (np.arange(total)[None] < np.array(lengths)[:, None]).astype(np.int64)
    else:
        feeds["x5"], feeds["x6"] = np.array(lengths, np.int32) - 1, np.array([total] if list_of_one else total, np.int32)
    constants = {**constants, **(TURNS if rotary else {})}
    inputs = ["x0", "" if packed else "x1", "" if packed else "x2", *(f"x{i}" for i in range(3, 7)), *(TURNS if rotary else [])]
    nodes.append(helper.make_node("GroupQueryAttention", inputs, ["y0", "y1", "y2"], domain="com.microsoft", num_heads=HEADS, kv_num_heads=GROUPS, **attributes))
    shapes = {**{f"x{i}": ["batch", "tokens", None] for i in range(3)}, **{f"x{i}": ["batch", None, "past", None] for i in (3, 4)}, "x5": ["batch"], "x6": [None] * list_of_one,
              "mask": ["batch", "total"]}
    named = lambda x, dims: [d or n for d, n in zip(dims, x.shape)]
    infos = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(x.dtype), named(x, shapes[k])) for k, x in feeds.items()]
    results = [helper.make_tensor_value_info("y0", T.FLOAT, ["batch", "tokens", HEADS * SIZE])]
    results += [helper.make_tensor_value_info(k, T.FLOAT, ["batch", GROUPS, "total", SIZE]) for k in ("y1", "y2")]
    graph = helper.make_graph(nodes, "cache", infos, results, [numpy_helper.from_array(v, k) for k, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    # Behind the shortest sequence the cache means nothing.
    check_model(f"GroupQueryAttention {name}{' of a mask' * masked}", model, feeds, shared=shared, rows=min(lengths))


for masked in (False, True):
    gqa("prompt", 5, 0, masked=masked)
    gqa("prompts", 5, 0, batch=3, masked=masked)
    gqa("token", 1, 6, masked=masked)
    gqa("tokens of several lengths", 1, 6, batch=3, lengths=[7, 4, 5], masked=masked)
    gqa("several tokens", 3, 6, masked=masked)
    gqa("prompt, shared", 5, 0, places=12, masked=masked)
    gqa("token, shared", 1, 6, places=12, batch=2, masked=masked)
    gqa("token that fills", 1, 6, places=7, masked=masked)
    gqa("several tokens, shared", 3, 6, places=12, masked=masked)
    gqa("packed", 1, 6, batch=2, packed=True, do_rotary=1, masked=masked)
    for interleaved in (0, 1):
        gqa(f"rotary {interleaved}", 1, 6, batch=2, lengths=[7, 4], do_rotary=1, rotary_interleaved=interleaved, masked=masked)
        gqa(f"rotary prompt {interleaved}", 4, 0, do_rotary=1, rotary_interleaved=interleaved, masked=masked)
    gqa("softcap", 1, 6, softcap=5.0, scale=0.3, masked=masked)
    gqa("window", 1, 6, local_window_size=3, masked=masked)
    gqa("window, shared", 1, 6, places=12, local_window_size=3, masked=masked)
    gqa("smooth softmax", 1, 6, smooth_softmax=1, masked=masked)
gqa("total is a list", 1, 6, list_of_one=True)


def with_past(name, op, tokens, before, batch=2):
    """Attention and MultiHeadAttention, whose present is the past and the call's."""
    C = HEADS * SIZE
    if op == "Attention":
        feeds = {"x0": numbers(batch, tokens, C), "x4": numbers(2, batch, HEADS, before, SIZE)}
        shapes = {"x0": ["batch", "tokens", C], "x4": [2, "batch", HEADS, "past", SIZE]}
        constants, inputs, outputs = {"x1": numbers(C, 3 * C, scale=0.2), "x2": numbers(3 * C)}, ["x0", "x1", "x2", "", "x4"], ["y0", "y1"]
    else:
        feeds = {f"x{i}": numbers(batch, tokens, C, seed=i) for i in range(3)} | {f"x{i}": numbers(batch, HEADS, before, SIZE, seed=i) for i in (6, 7)}
        shapes = {k: ["batch", "tokens", C] if x.ndim == 3 else ["batch", HEADS, "past", SIZE] for k, x in feeds.items()}
        constants, inputs, outputs = {}, ["x0", "x1", "x2", "", "", "", "x6", "x7"], ["y0", "y1", "y2"]
    node = helper.make_node(op, inputs, outputs, domain="com.microsoft", num_heads=HEADS)
    infos = [helper.make_tensor_value_info(k, T.FLOAT, shapes[k]) for k in feeds]
    graph = helper.make_graph([node], "past", infos, [helper.make_tensor_value_info(k, T.FLOAT, None) for k in outputs], [numpy_helper.from_array(v, k) for k, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    check_model(f"{op} {name}", model, feeds)


for op in ("Attention", "MultiHeadAttention"):
    with_past("prompt", op, 4, 0)
    with_past("token", op, 1, 5)
    with_past("several tokens", op, 3, 5)
