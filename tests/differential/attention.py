"""Attention and rotary embeddings."""
import numpy as np

from spec import Spec, generator

I64 = np.int64


@generator("Attention", weight=2)
def attention(d, op):
    opset = d.opset(op)
    kind = np.dtype(np.float32) if d.chance(0.7) else d.kind(op, opset, "T1")
    batch, groups, repeat = d.int(1, 2), d.int(1, 2), d.one(1, 1, 2)
    heads, length, keys, size, value = groups * repeat, d.int(1, 5), d.int(1, 6), d.one(2, 4, 8), d.one(2, 4, 6)
    attributes = {}
    causal = d.chance(0.4)
    if causal or d.chance(0.2):
        attributes["is_causal"] = int(causal)
    if d.chance(0.3):
        attributes["scale"] = d.uniform(0.2, 1)
    if d.chance(0.3):
        attributes["softcap"] = d.uniform(1, 4)
    make = lambda *shape: d.array(shape, kind, "plain", -1.5, 1.5)
    past = d.int(1, 3) if d.chance(0.3) else 0
    total = keys + past
    if d.chance(0.6):
        inputs = [make(batch, heads, length, size), make(batch, groups, keys, size), make(batch, groups, keys, value)]
    else:
        inputs = [make(batch, length, heads * size), make(batch, keys, groups * size), make(batch, keys, groups * value)]
        attributes.update(q_num_heads=heads, kv_num_heads=groups)
    mask = None
    if d.chance(0.5):
        shape = d.among([[length, total], [1, 1, length, total], [batch, 1, length, total], [batch, heads, length, total]])
        mask = d.array(shape, bool) if d.chance(0.5) else d.array(shape, kind, "plain", -2, 2)
        if mask.dtype == bool:
            mask[..., 0] = True  # a row without any key has no meaning
    inputs.append(mask)
    if past:
        inputs += [make(batch, groups, past, size), make(batch, groups, past, value)]
    outputs = [True, bool(past), bool(past)] if past else 1
    if d.chance(0.25):
        attributes["qk_matmul_output_mode"] = d.int(0, 3)
        outputs = [True, bool(past), bool(past), True]
    return Spec(op, inputs, attributes, outputs, opset, rtol=1e-3 if kind.itemsize > 2 else 2e-2, atol=1e-5 if kind.itemsize > 2 else 2e-2)


@generator("RotaryEmbedding")
def rotary(d, op):
    opset = d.opset(op)
    kind = d.kind(op, opset)
    batch, heads, length, size = d.int(1, 2), d.int(1, 3), d.int(1, 4), d.one(4, 8)
    part = d.one(0, 0, size // 2)
    half = (part or size) // 2
    attributes = {"interleaved": d.int(0, 1)} if d.chance(0.6) else {}
    if part:
        attributes["rotary_embedding_dim"] = part
    if d.chance(0.5):
        x = d.array([batch, heads, length, size], kind, "plain")
        if part:
            attributes["num_heads"] = heads
    else:
        x = d.array([batch, length, heads * size], kind, "plain")
        attributes["num_heads"] = heads
    if d.chance(0.5):
        cache = [6, half]
        return Spec(op, [x, d.array(cache, kind, "plain", -1, 1), d.array(cache, kind, "plain", -1, 1), d.array([batch, length], I64, "grid", 0, 5)], attributes, opset=opset)
    cache = [batch, length, half]
    return Spec(op, [x, d.array(cache, kind, "plain", -1, 1), d.array(cache, kind, "plain", -1, 1)], attributes, opset=opset)


@generator("LinearAttention")
def linear_attention(d, op):
    opset = d.opset(op)
    kind = np.dtype(np.float32)
    batch, groups, repeat, length, size, value = d.int(1, 2), d.int(1, 2), d.one(1, 2), d.int(1, 5), d.one(2, 4), d.one(2, 3)
    heads = groups * repeat
    make = lambda *shape: d.array(shape, kind, "plain", -0.8, 0.8)
    rule = d.one("linear", "gated", "delta", "gated_delta")
    inputs = [make(batch, length, heads * size), make(batch, length, groups * size), make(batch, length, groups * value), d.maybe(0.5, lambda: make(batch, groups, size, value))]
    inputs.append(make(batch, length, groups * d.one(1, size)) - 1 if "gated" in rule else None)
    inputs.append(d.array([batch, length, groups], kind, "plain", 0, 1) if "delta" in rule else None)
    attributes = {"q_num_heads": heads, "kv_num_heads": groups, "update_rule": rule}
    if d.chance(0.4):
        attributes["scale"] = d.uniform(0.2, 1)
    return Spec(op, inputs, attributes, 2, opset, rtol=1e-3, atol=1e-5)


@generator("CausalConvWithState")
def causal_conv(d, op):
    opset = d.opset(op)
    batch, channels, length, k = d.int(1, 2), d.int(1, 4), d.int(1, 6), d.int(1, 4)
    make = lambda *shape: d.array(shape, np.float32, "plain", -1, 1)
    inputs = [make(batch, channels, length), make(channels, 1, k), d.maybe(0.5, lambda: make(channels)), d.maybe(0.5, lambda: make(batch, channels, k - 1)) if k > 1 else None]
    return Spec(op, inputs, d.one({}, {"activation": d.one("none", "silu", "swish")}), 2, opset, rtol=1e-3, atol=1e-5)
