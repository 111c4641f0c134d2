"""Attention within windows, as Swin has it: scores of 49 tokens with a mask that keeps apart what a shift has brought together."""
import numpy as np

from kinds.blocks import kind
from network import Network


def masks(windows, tokens, value):
    """0 where both tokens are of one region of a shifted window, else `value`; half of the windows hold several regions."""
    random = np.random.default_rng(4)
    regions = np.where(np.arange(windows)[:, None] % 2 == 0, 0, random.integers(0, 3, (windows, tokens)))
    return np.where(regions[:, :, None] == regions[:, None, :], 0, value).astype(np.float32)[:, None]


def windowed(value, windows=64, tokens=49, heads=3, depth=32, blocks=2):
    width = heads * depth
    n = Network(windows, tokens, width)
    x, mask = n.x, n.constant(masks(windows, tokens, value))

    def by_heads(y):
        return n.transpose(n.reshape(y, windows, tokens, heads, depth), 0, 2, 1, 3)

    for _ in range(blocks):
        y = n.layer_norm(x)
        q, k, v = (by_heads(n.linear(y, width)) for _ in range(3))
        scores = n.op("MatMul", n.scalar("Mul", q, depth**-0.5), n.transpose(k, 0, 1, 3, 2), shape=(windows, heads, tokens, tokens))
        attended = n.op("MatMul", n.op("Softmax", n.op("Add", scores, mask), axis=-1), v, shape=v.shape)
        x = n.op("Add", x, n.linear(n.reshape(n.transpose(attended, 0, 2, 1, 3), windows, tokens, width), width))
        x = n.op("Add", x, n.linear(n.linear(n.layer_norm(x), 4 * width, "Gelu"), width))
    return n, x


@kind
def windows_masked_by_10():
    return windowed(-10)


@kind
def windows_masked_by_100():
    """The same; exp(-100) is below the smallest normal number."""
    return windowed(-100)
