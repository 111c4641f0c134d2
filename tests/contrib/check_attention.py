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
