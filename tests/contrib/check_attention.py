"""Attention and rotary embeddings of com.microsoft, against ONNX Runtime's CPU kernels, or numpy where it has none."""
import numpy as np
from onnx import TensorProto as T

from harness import check, main, numbers

MS = dict(domain="com.microsoft", rtol=1e-4, atol=1e-5)
i32 = lambda *v: np.array(v, np.int32)
FLOATS = {k: T.FLOAT for k in range(4)}
B, S, N, H = 2, 3, 4, 8
C = N * H
x, w, bias = numbers(B, S, C), numbers(C, 3 * C, scale=0.2), numbers(3 * C)

# ---- Attention
masks = {"none": None, "raw": np.array([[1, 1, 0], [1, 1, 1]], np.int32), "ends": i32(2, 3), "ends and starts": i32(3, 3, 1, 0),
         "3-D": np.random.default_rng(1).integers(0, 2, (B, S, S)).astype(np.int32)}
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
check("Attention present", "Attention", [x, w, bias], dict(num_heads=N), outputs=2, **MS)
check("Attention bias of scores", "Attention", [x, w, bias, None, None, numbers(B, N, S, S)], dict(num_heads=N, scale=0.3), **MS)
check("Attention broadcast bias of scores", "Attention", [x, w, bias, None, None, numbers(1, N, S, S)], dict(num_heads=N), **MS)
check("Attention sizes", "Attention", [x, numbers(C, 16 + 16 + 24, scale=0.2), numbers(56)], dict(num_heads=N, qkv_hidden_sizes=[16, 16, 24]), **MS)
check("Attention with rotary", "Attention", [x, w, bias], dict(num_heads=N, do_rotary=1), refused="do_rotary is set", out_types=FLOATS, **MS)

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
check("DecoderMaskedMultiHeadAttention shared", "DecoderMaskedMultiHeadAttention", [one, one, one, None, None, pk, pv, i32(2)], dict(num_heads=N, past_present_share_buffer=1),
      refused="share a buffer", out_types=FLOATS, **MS)

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
    check(f"RotaryEmbedding partial {interleaved}", "RotaryEmbedding", [numbers(B, S, N * size), positions, cosines[:, :4].copy(), sines[:, :4].copy()],
          dict(interleaved=interleaved, num_heads=N, rotary_embedding_dim=8), **MS)
emb, state = numbers(B, S, size), [numbers(B, N, S, size, seed=k) for k in range(4)]
turned = [a * np.cos(emb[:, None]) + r * np.sin(emb[:, None]) for a, r in (state[:2], state[2:])]
check("GemmaRotaryEmbedding", "GemmaRotaryEmbedding", [emb, *state], outputs=2, expect=turned, **MS)

for rule in ("linear", "gated", "delta", "gated_delta"):
    decay = -np.abs(numbers(B, S, G)) if "gated" in rule else None
    beta = 1 / (1 + np.exp(-numbers(B, S, G))) if "delta" in rule else None
    for state in (None, numbers(B, G, size, 4)):
        check(f"LinearAttention {rule} past={state is not None}", "LinearAttention", [numbers(B, S, N * size), numbers(B, S, G * size, scale=0.3), numbers(B, S, G * 4), state, decay, beta],
              dict(update_rule=rule, q_num_heads=N, kv_num_heads=G), outputs=2, **MS)

if __name__ == "__main__":
    main()
