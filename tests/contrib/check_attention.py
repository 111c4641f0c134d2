"""Attention and rotary embeddings of com.microsoft, against ONNX Runtime's CPU kernels, or numpy where it has none."""
import numpy as np
from onnx import TensorProto as T

from harness import check, numbers

MS = dict(domain="com.microsoft", rtol=1e-4, atol=1e-5)
i32 = lambda *v: np.array(v, np.int32)
FLOATS = {k: T.FLOAT for k in range(4)}
B, S, N, H = 2, 3, 4, 8
C = N * H
x, w, bias = numbers(B, S, C), numbers(C, 3 * C, scale=0.2), numbers(3 * C)

# ---- Attention
masks = {"none": None, "raw": np.array([[1, 1, 0], [1, 1, 1]], np.int32), "ends": i32(2, 3), "ends and starts": i32(3, 3, 1, 0),
         "3-D": np.random.default_rng(1).integers(0, 2, (B, S, S)).astype(np.int32),
         "of places": i32(2, 3, 0, 3, 6, 0, 3, 6), "of nothing": np.zeros((B, 1), np.int32)}
masks["3-D"][:, :, 0] = 1
for name, mask in masks.items():
    for causal in (0, 1):
        for extra in ({}, {"mask_filter_value": -1.5}):
            check(f"Attention mask {name} causal={causal} {extra}", "Attention", [x, w, bias, mask], dict(num_heads=N, unidirectional=causal, **extra), **MS)
past = numbers(2, B, N, 5, H)
raw = np.ones((B, 5 + S), np.int32)
raw[0, 6:] = 0
for causal in (0, 1):
    check(f"Attention past causal={causal}", "Attention", [x, w, bias, None, past], dict(num_heads=N, unidirectional=causal), outputs=2, **MS)
    check(f"Attention past and mask causal={causal}", "Attention", [x, w, bias, raw, past], dict(num_heads=N, unidirectional=causal), outputs=2, **MS)
check("Attention length of the past", "Attention", [x, w, bias, None, past, None, i32(5)], dict(num_heads=N), outputs=2, **MS)
check("Attention present", "Attention", [x, w, bias], dict(num_heads=N), outputs=2, **MS)
check("Attention bias of scores", "Attention", [x, w, bias, None, None, numbers(B, N, S, S)], dict(num_heads=N, scale=0.3), **MS)
check("Attention broadcast bias of scores", "Attention", [x, w, bias, None, None, numbers(1, N, S, S)], dict(num_heads=N), **MS)
check("Attention sizes", "Attention", [x, numbers(C, 16 + 16 + 24, scale=0.2), numbers(56)], dict(num_heads=N, qkv_hidden_sizes=[16, 16, 24]), **MS)
check("Attention with rotary", "Attention", [x, w, bias], dict(num_heads=N, do_rotary=1), refused="do_rotary is set", out_types=FLOATS, **MS)

longest = np.tril(np.ones((B, 1, 9, 9), np.int32))
longest[1, :, :, 1] = 0
w3, past_k, past_v = np.split(x @ w + bias, 3, 2), past[0], past[1]
heads = lambda v: v.reshape(B, -1, N, H).transpose(0, 2, 1, 3)
scores = heads(w3[0]) @ np.concatenate([past_k, heads(w3[1])], 2).transpose(0, 1, 3, 2) / np.sqrt(H) + np.where(longest[:, :, 5:8, :8] > 0, 0, -10000.0)
weights = np.exp(scores - scores.max(-1, keepdims=True))
weights = weights / weights.sum(-1, keepdims=True) @ np.concatenate([past_v, heads(w3[2])], 2)
check("Attention mask of the longest", "Attention", [x, w, bias, longest, past], dict(num_heads=N), outputs=2, wanted=[0],
      expect=[weights.transpose(0, 2, 1, 3).reshape(B, S, C).astype(np.float32)], **MS)

# ---- MultiHeadAttention
L = 5
q, k, v = numbers(B, S, C), numbers(B, L, C, seed=1), numbers(B, L, C, seed=2)
keys = np.ones((B, L), np.int32)
keys[0, 3:] = 0
for name, mask in (("none", None), ("2-D", keys), ("ends", i32(3, 5))):
    check(f"MultiHeadAttention mask {name}", "MultiHeadAttention", [q, k, v, None, mask], dict(num_heads=N), **MS)
check("MultiHeadAttention causal", "MultiHeadAttention", [k, k, v], dict(num_heads=N, unidirectional=1), **MS)
check("MultiHeadAttention causal with other keys", "MultiHeadAttention", [q, k, v], dict(num_heads=N, unidirectional=1), refused="3 queries for 5 new keys", out_types=FLOATS, **MS)
check("MultiHeadAttention bias", "MultiHeadAttention", [q, k, v, bias], dict(num_heads=N, scale=0.4), **MS)
check("MultiHeadAttention wide value", "MultiHeadAttention", [q, k, numbers(B, L, 2 * C)], dict(num_heads=N), **MS)
check("MultiHeadAttention bias of scores", "MultiHeadAttention", [q, k, v, None, None, numbers(1, 1, S, L)], dict(num_heads=N), **MS)
check("MultiHeadAttention keys as heads", "MultiHeadAttention", [q, numbers(B, N, L, H), numbers(B, N, L, H, seed=1)], dict(num_heads=N), **MS)
pk, pv = numbers(B, N, 2, H), numbers(B, N, 2, H, seed=1)
nk, nv = numbers(B, S, C, seed=3), numbers(B, S, C, seed=4)
for causal in (0, 1):
    check(f"MultiHeadAttention past causal={causal}", "MultiHeadAttention", [q, nk, nv, None, None, None, pk, pv], dict(num_heads=N, unidirectional=causal), outputs=3, **MS)
check("MultiHeadAttention scores", "MultiHeadAttention", [q, nk, nv, None, None, None, pk, pv], dict(num_heads=N), outputs=4, **MS)
one = numbers(B, 1, C)
check("DecoderMaskedMultiHeadAttention crosswise", "DecoderMaskedMultiHeadAttention", [one, numbers(B, N, L, H), numbers(B, N, L, H, seed=1)], dict(num_heads=N), **MS)
check("MultiHeadAttention mask of places", "MultiHeadAttention", [q, k, v, None, i32(3, 5, 0, 3, 6, 0, 5, 10)], dict(num_heads=N), **MS)
# Past and present of one length: what lies behind the call's keys is no one's.
room = [numbers(B, N, 10, H, seed=s) for s in (6, 7)]
beams = np.random.default_rng(2).integers(0, 2, (1, 2, 10)).astype(np.int32)
for name, mask, added in (("", None, None), (" mask", np.array([[1] * 6 + [0], [1] * 7], np.int32), None), (" bias", None, numbers(1, N, S, 7))):
    for causal in (0, 1):
        check(f"MultiHeadAttention shared{name} causal={causal}", "MultiHeadAttention", [q, nk, nv, None, mask, added, *room, i32(4)], dict(num_heads=N, unidirectional=causal),
              outputs=3, wanted=[0, 1, 2], shared={1: 6, 2: 7}, **MS)
check("MultiHeadAttention beams", "MultiHeadAttention", [one, nk[:, :1].copy(), nv[:, :1].copy(), None, None, None, *room, i32(4), beams], dict(num_heads=N), outputs=3, shared={1: 6, 2: 7}, **MS)
for name, tail in (("shared", []), ("beams", [i32(2), beams]), ("bias", [None, None, bias])):
    check(f"DecoderMaskedMultiHeadAttention {name}", "DecoderMaskedMultiHeadAttention", [one, nk[:, :1].copy(), nv[:, :1].copy(), None, None, *room, i32(4), *tail],
          dict(num_heads=N, past_present_share_buffer=1), outputs=3, shared={1: 5, 2: 6}, **MS)

# ---- GroupQueryAttention
G, size, longest = 2, 16, 12
angle = np.arange(32)[:, None] * (1 / 100 ** (np.arange(size // 2) / (size // 2)))[None]
cosines, sines = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
GQA = dict(num_heads=N, kv_num_heads=G)


def gqa(name, tokens, before, lengths=None, attributes=(), past=True, packed=False, total=None, extra=(), verify_cache=True, **options):
    batch = len(lengths) if lengths is not None else B
    total = total or before + tokens
    lengths = i32(*(lengths if lengths is not None else [total - 1] * batch))
    q, k, v = (numbers(batch, tokens, heads * size, seed=s) for s, heads in enumerate((N, G, G)))
    if packed:
        q, k, v = np.concatenate([q, k, v], 2), None, None
    pk, pv = (numbers(batch, G, before, size, seed=s) if past else None for s in (5, 6))
    check(f"GroupQueryAttention {name}", "GroupQueryAttention", [q, k, v, pk, pv, lengths, np.array([total], np.int32), cosines, sines, *extra],
          {**GQA, **dict(attributes)}, constants={6}, outputs=3, out_types=FLOATS,
          compared=None if verify_cache else [0], **{**MS, **options})


for rotary in ({}, dict(do_rotary=1), dict(do_rotary=1, rotary_interleaved=1)):
    gqa(f"prompt {rotary}", 6, 0, attributes=rotary, past=False)
    gqa(f"token {rotary}", 1, 7, attributes=rotary)
    gqa(f"packed {rotary}", 1, 7, attributes=rotary, packed=True)
gqa("window", 6, 0, attributes=dict(local_window_size=3), past=False)
gqa("window token", 1, 9, attributes=dict(local_window_size=4))
gqa("scale and softcap", 6, 0, attributes=dict(scale=0.2, softcap=5.0), past=False)
gqa("smooth softmax", 6, 0, attributes=dict(smooth_softmax=1), past=False)
gqa("sinks", 6, 0, past=False, extra=[None, None, numbers(N)])
gqa("lengths", 1, 8, lengths=[4, 8], verify_cache=False, total=9)
gqa("room in the cache", 1, 12, lengths=[7, 7], total=8, verify_cache=False)
gqa("bias of scores", 1, 7, extra=[None, numbers(B, N, 1, 8)])
gqa("positions", 1, 7, attributes=dict(do_rotary=1), extra=[np.array([[3], [5]], np.int64)])
gqa("several tokens after others", 3, 5, lengths=[7])


def cached(name, tokens, before, mode, bits, shared=None, **attributes):
    """With a cache of integers."""
    q, k, v = (numbers(B, tokens, heads * size, seed=s) for s, heads in enumerate((N, G, G)))
    scales = [np.array([0.3 if bits == 4 else 0.02], np.float32)] * 2
    if mode == "PER_CHANNEL":
        scales = [(np.random.default_rng(s).uniform(0.5, 1, (1, G, 1, size)) * scales[0]).astype(np.float32) for s in (1, 2)]
    shape, rng = (B, G, before, size * bits // 8), np.random.default_rng(3)
    past = [rng.integers(-128, 128, shape).astype(np.int8) if bits == 8 else rng.integers(0, 256, shape).astype(np.uint8) for _ in range(2)]
    kind = T.INT8 if bits == 8 else T.UINT8
    check(f"GroupQueryAttention {name} {mode} {bits}", "GroupQueryAttention", [q, k, v, *past, i32(*[before + tokens - 1] * B), i32(before + tokens), cosines, sines, None, None, None, *scales],
          dict(**GQA, k_quant_type=mode, v_quant_type=mode, kv_cache_bit_width=bits, do_rotary=1, **attributes), constants={6}, outputs=3, out_types={0: T.FLOAT, 1: kind, 2: kind}, **MS)


for mode in ("PER_TENSOR", "PER_CHANNEL"):
    for bits in (4, 8):
        cached("integers, prompt", 6, 0, mode, bits)
        cached("integers, token", 1, 7, mode, bits)


def windowed(name, tokens, so_far, capacity, window, batch=1):
    q, k, v = (numbers(batch, tokens, heads * size, seed=s) for s, heads in enumerate((N, G, G)))
    held = lambda t: t if t <= capacity else t + (capacity - t) // (capacity - window + 1) * (capacity - window + 1)
    total = so_far + tokens
    past = [numbers(batch, G, capacity, size, seed=s) for s in (5, 6)]
    check(f"GroupQueryAttention window {name}", "GroupQueryAttention", [q, k, v, *past, i32(*[total - 1] * batch), i32(total), cosines, sines],
          dict(**GQA, sliding_window_cache=1, local_window_size=window, do_rotary=1), constants={6}, outputs=3, out_types=FLOATS, shared={1: 3, 2: 4}, rows=held(total), **MS)


windowed("fills", 1, 3, 6, 4, batch=2)
windowed("is full", 1, 6, 6, 4, batch=2)
windowed("slack", 1, 8, 6, 4, batch=2)
windowed("exact", 1, 20, 4, 4)
windowed("several", 3, 7, 6, 4)
windowed("more than it holds", 9, 7, 6, 4)
windowed("prompt", 9, 0, 6, 4)

# ---- SparseAttention: blocks of 16 keys
LAYOUTS = [[[1, 0, 0], [1, 1, 0], [0, 1, 1]], [[1, 0, 0], [1, 1, 0], [1, 0, 1]], [[1, 0, 0], [0, 1, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]]


def sparse_reference(q, k, v, past_k, past_v, masks, lengths):
    """With lengths that differ, where ONNX Runtime writes weights in rows of the longest and reads them in rows of each length."""
    batch, tokens, _ = q.shape
    heads = lambda x: x.reshape(batch, tokens, -1, size).transpose(0, 2, 1, 3)
    q, k, v, past_k, past_v = heads(q), heads(k), heads(v), past_k.copy(), past_v.copy()
    y = np.zeros(q.shape)
    for b in range(batch):
        positions = np.arange(lengths[b] - tokens, lengths[b])
        past_k[b, :, positions], past_v[b, :, positions] = k[b].transpose(1, 0, 2), v[b].transpose(1, 0, 2)
        keys = np.arange(past_k.shape[2])
        for h in range(N):
            seen = masks[h % len(masks)][positions[:, None] // 16, keys[None] // 16].astype(bool) & (keys[None] <= positions[:, None])
            scores = np.where(seen, q[b, h] @ past_k[b, h * G // N].T / np.sqrt(size), -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            y[b, h] = weights / weights.sum(-1, keepdims=True) @ past_v[b, h * G // N]
    return [y.transpose(0, 2, 1, 3).reshape(batch, tokens, -1).astype(np.float32), past_k, past_v]


def sparse(name, tokens, lengths, total, layouts=1, packed=False, cache=48, cosines=None, sines=None, **attributes):
    masks = np.array(LAYOUTS[:layouts])
    rows = np.concatenate([np.zeros((layouts, 1)), masks.sum(2).cumsum(1)], 1).astype(np.int32)
    columns = np.full((layouts, rows[:, -1].max()), -1, np.int32)
    for k, m in enumerate(masks):
        columns[k, : rows[k, -1]] = np.nonzero(m)[1]
    batch = len(lengths)
    q, k, v = (numbers(batch, tokens, heads * size, seed=s) for s, heads in enumerate((N, G, G)))
    past = [numbers(batch, G, cache, size, seed=s) for s in (5, 6)]
    expect = sparse_reference(q, k, v, *past, masks, lengths) if set(lengths) != {total} else None
    if packed:
        q, k, v = np.concatenate([q, k, v], 2), None, None
    check(f"SparseAttention {name}", "SparseAttention", [q, k, v, *past, rows, columns, i32(total), i32(*lengths), cosines, sines],
          dict(num_heads=N, kv_num_heads=G, sparse_block_size=16, **attributes), constants={5, 6, 7}, outputs=3, out_types=FLOATS, shared={1: 3, 2: 4}, expect=expect, **MS)


turns = np.arange(48)[:, None] * (1 / 100 ** (np.arange(8) / 8))[None]
turns = dict(cosines=np.cos(turns).astype(np.float32), sines=np.sin(turns).astype(np.float32), do_rotary=1)
for layouts in (1, 2, 4):
    sparse(f"prompt {layouts}", 40, [40, 40], 40, layouts)
    sparse(f"token {layouts}", 1, [45, 45], 45, layouts)
    sparse(f"lengths {layouts}", 1, [36, 45], 45, layouts)
sparse("packed", 40, [40], 40, 2, packed=True)
sparse("several tokens after others", 5, [44, 44], 44, 2)
sparse("several tokens, lengths", 5, [36, 45], 45, 2)
sparse("scale", 33, [33], 33, scale=0.4)
for interleaved in (0, 1):
    sparse(f"rotary {interleaved}", 40, [40, 40], 40, 2, **turns, rotary_interleaved=interleaved)
    sparse(f"rotary token {interleaved}", 1, [45, 45], 45, 2, packed=True, **turns, rotary_interleaved=interleaved)


# ---- PackedAttention, PackedMultiHeadAttention
def packed_reference(q, k, v, lengths, heads, bias=None, scale=None):
    y, at = [], 0
    for b, n in enumerate(lengths):
        split = lambda x: x[at : at + n].reshape(n, heads, -1).transpose(1, 0, 2).astype(np.float64)
        scores = split(q) @ split(k).transpose(0, 2, 1) * (scale or 1 / np.sqrt(q.shape[1] // heads))
        if bias is not None:
            scores = scores + bias[b % len(bias), :, :n, :n]
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        y.append((weights / weights.sum(-1, keepdims=True) @ split(v)).transpose(1, 0, 2).reshape(n, -1))
        at += n
    return np.concatenate(y).astype(np.float32)


counts, width = [1, 2, 4], 4
places = np.arange(12).reshape(3, 4)
there = places % 4 < np.array(counts)[:, None]
offsets = np.concatenate([places[there], places[~there]]).reshape(3, 4).astype(np.int32)
ends = np.cumsum([0, *counts]).astype(np.int32)
hidden = numbers(7, C)
for name, added, extra in (("plain", None, {}), ("bias", numbers(3, N, width, width), {}), ("one bias, scale", numbers(1, N, width, width), dict(scale=0.3))):
    projected = np.split(hidden @ w + bias, 3, 1)
    check(f"PackedAttention {name}", "PackedAttention", [hidden, w, bias, offsets, ends, added], dict(num_heads=N, **extra),
          expect=[packed_reference(*projected, counts, N, added, extra.get("scale"))], **MS)
    parts = [numbers(7, C, seed=k) for k in range(3)]
    check(f"PackedMultiHeadAttention {name}", "PackedMultiHeadAttention", [*parts, None, offsets, ends, added], dict(num_heads=N, **extra),
          expect=[packed_reference(*parts, counts, N, added, extra.get("scale"))], **MS)
check("PackedAttention sizes", "PackedAttention", [hidden, numbers(C, 16 + 16 + 24, scale=0.2), numbers(56), offsets, ends], dict(num_heads=N, qkv_hidden_sizes=[16, 16, 24]),
      expect=[packed_reference(*np.split(hidden @ numbers(C, 56, scale=0.2) + numbers(56), [16, 32], 1), counts, N)], **MS)
together = np.stack([p.reshape(7, N, H) for p in parts], 2)
check("PackedMultiHeadAttention together", "PackedMultiHeadAttention", [together, None, None, bias, offsets, ends], dict(num_heads=N),
      expect=[packed_reference(*(p + b for p, b in zip(parts, np.split(bias, 3))), counts, N)], **MS)

# ---- rotary embeddings
positions = np.array([[0, 1, 2], [4, 5, 6]], np.int64)
for interleaved in (0, 1):
    check(f"RotaryEmbedding {interleaved}", "RotaryEmbedding", [numbers(B, S, N * size), positions, cosines, sines], dict(interleaved=interleaved), **MS)
    check(f"RotaryEmbedding heads {interleaved}", "RotaryEmbedding", [numbers(B, N, S, size), positions, cosines, sines], dict(interleaved=interleaved), **MS)
    check(f"RotaryEmbedding offset {interleaved}", "RotaryEmbedding", [numbers(B, S, N * size), np.array([3], np.int64), cosines, sines], dict(interleaved=interleaved), **MS)
    check(f"RotaryEmbedding several in one {interleaved}", "RotaryEmbedding", [numbers(1, 40, N * size), np.arange(40)[None] % 25, cosines, sines],
          dict(interleaved=interleaved, is_packed_batching=1, scale=2.0, num_heads=N), **MS)
    check(f"RotaryEmbedding partial {interleaved}", "RotaryEmbedding", [numbers(B, S, N * size), positions, cosines[:, :4].copy(), sines[:, :4].copy()],
          dict(interleaved=interleaved, num_heads=N, rotary_embedding_dim=8), **MS)
emb, state = numbers(B, S, size), [numbers(B, N, S, size, seed=k).astype(np.float16) for k in range(4)]
turned = [(a * np.cos(emb[:, None]) + r * np.sin(emb[:, None])).astype(np.float16) for a, r in (state[:2], state[2:])]
rounding = sum(np.abs(s.astype(np.float32)).max() for s in state[:2]) * 2.0**-11  # of one rounding to f16; there are three on the way: of the functions, of products and of the sum, and the wanted one
check("RotaryEmbedding of no text", "RotaryEmbedding", [numbers(0, S, N * size), positions[:0], cosines, sines], dict(num_heads=N), **MS)
check("GemmaRotaryEmbedding", "GemmaRotaryEmbedding", [emb, *state], outputs=2, expect=turned, **{**MS, "atol": 4 * rounding})

for rule in ("linear", "gated", "delta", "gated_delta"):
    decay = -np.abs(numbers(B, S, G)) if "gated" in rule else None
    beta = 1 / (1 + np.exp(-numbers(B, S, G))) if "delta" in rule else None
    for state in (None, numbers(B, G, size, 4)):
        check(f"LinearAttention {rule} past={state is not None}", "LinearAttention", [numbers(B, S, N * size), numbers(B, S, G * size, scale=0.3), numbers(B, S, G * 4), state, decay, beta],
              dict(update_rule=rule, q_num_heads=N, kv_num_heads=G), outputs=2, **MS)

# Fewer heads of queries or keys than of states; states of the last tokens.
decay, beta = -np.abs(numbers(B, S, 4)), 1 / (1 + np.exp(-numbers(B, S, 4)))
for q_heads, k_heads in ((2, 2), (2, 4), (4, 2), (8, 4)):
    check(f"LinearAttention {q_heads} {k_heads} of 4 heads", "LinearAttention", [numbers(B, S, q_heads * size), numbers(B, S, k_heads * size, scale=0.3), numbers(B, S, 4 * 4), None, decay, beta],
          dict(q_num_heads=q_heads, kv_num_heads=4), outputs=2, **MS)
q, k, v, state = numbers(B, S, 4 * size), numbers(B, S, 4 * size, scale=0.3), numbers(B, S, 4 * 5), numbers(B, 4, size, 5)
states, outputs, now = [], [], state.astype(np.float64)
for t in range(S):
    rows = lambda x, n: x[:, t].reshape(B, 4, n)
    now = now * np.exp(decay[:, t])[..., None, None]
    written = beta[:, t][..., None] * (rows(v, 5) - np.einsum("bhkv,bhk->bhv", now, rows(k, size)))
    now = now + np.einsum("bhk,bhv->bhkv", rows(k, size), written)
    states.append(now)
    outputs.append(np.einsum("bhkv,bhk->bhv", now, rows(q, size)).reshape(B, -1) / np.sqrt(size))
for window in (1, 2, 3, 5):
    held = np.stack([np.zeros_like(state)] * (window - S) + states[max(0, S - window) :])
    check(f"LinearAttention window of {window}", "LinearAttention", [q, k, v, np.stack([np.full_like(state, 9)] * (window - 1) + [state]), decay, beta],
          dict(q_num_heads=4, kv_num_heads=4, state_window=window), outputs=2, expect=[np.stack(outputs, 1).astype(np.float32), held.astype(np.float32)], **MS)
