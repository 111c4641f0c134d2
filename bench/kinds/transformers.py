"""Transformers for images, texts and sounds, as their papers have them, at small sizes: attention in windows, over fewer keys, with biases, across sequences."""
import numpy as np

from kinds.attention import masks
from kinds.blocks import kind
from network import Network


class Transformer(Network):
    """Layers that transformers share. Rows are [batch, tokens, width]."""

    def by_heads(self, x, heads):
        batch, tokens, width = x.shape
        return self.transpose(self.reshape(x, batch, tokens, heads, width // heads), 0, 2, 1, 3)

    def attention(self, x, heads, keys=None, bias=None, scale=True):
        """Without a norm; `bias` is added to the scores."""
        keys = keys or x
        width = x.shape[-1]
        q, k, v = (self.by_heads(self.linear(of, width), heads) for of in (x, keys, keys))
        scores = self.op("MatMul", q, self.transpose(k, 0, 1, 3, 2), shape=(*q.shape[:3], k.shape[2]))
        if scale:
            scores = self.scalar("Mul", scores, (width // heads) ** -0.5)
        if bias is not None:
            scores = self.op("Add", scores, bias)
        y = self.op("MatMul", self.op("Softmax", scores, axis=-1), v, shape=q.shape)
        return self.linear(self.reshape(self.transpose(y, 0, 2, 1, 3), *x.shape), width)

    def add(self, x, y):
        return self.op("Add", x, y)

    def ffn(self, x, times=4, activation="Gelu"):
        return self.linear(self.linear(x, times * x.shape[-1], activation), x.shape[-1])

    def block(self, x, heads, **attention):
        """Norms come first."""
        x = self.add(x, self.attention(self.layer_norm(x), heads, **attention))
        return self.add(x, self.ffn(self.layer_norm(x)))

    def relative_bias(self, heads, queries, keys):
        return self.constant((self.random.standard_normal((1, heads, queries, keys)) * 0.1).astype(np.float32))

    def causal(self, tokens):
        return self.constant(np.triu(np.full((tokens, tokens), np.finfo(np.float32).min, np.float32), 1))

    def rms_norm(self, x):
        mean = self.op("ReduceMean", self.scalar("Pow", x, 2), shape=(*x.shape[:-1], 1), axes=[-1])
        inverse = self.op("Reciprocal", self.op("Sqrt", self.scalar("Add", mean, 1e-6)))
        return self.op("Mul", self.op("Mul", x, inverse), self.constant(np.ones(x.shape[-1], np.float32)))

    def rows(self, image):
        """[1, pixels, channels] of an image [1, channels, h, w]."""
        _, channels, h, w = image.shape
        return self.transpose(self.reshape(image, 1, channels, h * w), 0, 2, 1)

    def image(self, rows, side):
        return self.reshape(self.transpose(rows, 0, 2, 1), 1, rows.shape[-1], side, side)

    def rolled(self, x, axis, by):
        """Rolled by -by along the axis, as exporters write it: two slices that change places."""
        def piece(first, last):
            values = [self.constant(np.array([v], np.int64)) for v in (first, last, axis)]
            return self.op("Slice", x, *values, shape=[last - first if a == axis else s for a, s in enumerate(x.shape)])

        by %= x.shape[axis]
        return self.op("Concat", piece(by, x.shape[axis]), piece(0, by), shape=x.shape, axis=axis)

    def windows(self, x, side, window, grid=False):
        """[1, side * side, c] as [windows, window * window, c]; grid: of pixels that are far apart."""
        n, c = side // window, x.shape[-1]
        axes = (self.reshape(x, window, n, window, n, c), (1, 3, 0, 2, 4)) if grid else (self.reshape(x, n, window, n, window, c), (0, 2, 1, 3, 4))
        return self.reshape(self.transpose(axes[0], *axes[1]), n * n, window * window, c)

    def from_windows(self, x, side, window, grid=False):
        n, c = side // window, x.shape[-1]
        back = (2, 0, 3, 1, 4) if grid else (0, 2, 1, 3, 4)
        return self.reshape(self.transpose(self.reshape(x, n, n, window, window, c), *back), 1, side * side, c)


@kind
def swin():
    """Windows of 49 tokens, every other block with the image rolled by three pixels and a mask; patches are merged between stages."""
    n = Transformer(1, 3, 224, 224)
    x, side = n.rows(n.conv(n.x, 64, 4, 4, pad=0, activation=None)), 56
    for stage, heads in enumerate((2, 4, 8)):
        for shift in (0, 3):
            y = n.layer_norm(x)
            if shift:
                image = n.reshape(y, 1, side, side, y.shape[-1])
                y = n.reshape(n.rolled(n.rolled(image, 1, shift), 2, shift), *x.shape)
            y = n.windows(y, side, 7)
            bias = n.relative_bias(heads, 49, 49)
            if shift:
                bias = n.constant(np.asarray(masks((side // 7) ** 2, 49, -100)))
            y = n.from_windows(n.attention(y, heads, bias=bias), side, 7)
            if shift:
                image = n.reshape(y, 1, side, side, y.shape[-1])
                y = n.reshape(n.rolled(n.rolled(image, 1, -shift), 2, -shift), *x.shape)
            x = n.add(x, y)
            x = n.add(x, n.ffn(n.layer_norm(x)))
        if stage < 2:
            half, c = side // 2, x.shape[-1]
            merged = n.transpose(n.reshape(x, half, 2, half, 2, c), 0, 2, 3, 1, 4)
            x, side = n.linear(n.layer_norm(n.reshape(merged, 1, half * half, 4 * c)), 2 * c), half
    mean = n.op("ReduceMean", n.layer_norm(x), shape=(1, x.shape[-1]), axes=[1], keepdims=0)
    return n, n.dense(mean, 1000, activation=None)


@kind
def segformer():
    """Keys and values of an image that a convolution made smaller; a depthwise convolution within each perceptron; stages join in one image."""
    n = Transformer(1, 3, 256, 256)
    image, parts = n.x, []
    for channels, kernel, stride, heads, reduce in (32, 7, 4, 1, 8), (64, 3, 2, 2, 4), (160, 3, 2, 5, 2), (256, 3, 2, 8, 1):
        image = n.conv(image, channels, kernel, stride, activation=None)
        side = image.shape[2]
        x = n.layer_norm(n.rows(image))
        for _ in range(2):
            y = n.layer_norm(x)
            keys = y
            if reduce > 1:
                keys = n.layer_norm(n.rows(n.conv(n.image(y, side), channels, reduce, reduce, pad=0, activation=None)))
            x = n.add(x, n.attention(y, heads, keys))
            hidden = n.rows(n.depthwise(n.image(n.linear(n.layer_norm(x), 4 * channels), side), 3, activation=None))
            x = n.add(x, n.linear(n.activate(hidden, "Gelu"), channels))
        image = n.image(n.layer_norm(x), side)
        part = n.image(n.linear(n.rows(image), 128), side)
        parts.append(n.resize(part, 64 // side, mode="linear", coordinate_transformation_mode="half_pixel") if side != 64 else part)
    return n, n.conv(n.conv(n.concat(*parts), 128, 1), 19, 1, activation=None)


@kind
def maxvit():
    """Inverted bottlenecks, then attention within windows and over a grid, both with a bias for each pair."""
    n = Transformer(1, 3, 112, 112)
    image = n.conv(n.conv(n.x, 32, 3, 2, activation="Gelu"), 32, 3, activation=None)
    for channels in (64, 128):
        y = n.depthwise(n.conv(n.normalise(image), 4 * channels, 1, activation="Gelu"), 3, 2, activation="Gelu")
        image = n.conv(n.excite(y, channels), channels, 1, activation=None)
        side, heads = image.shape[2], channels // 32
        x = n.rows(image)
        for grid in (False, True):
            y = n.windows(n.layer_norm(x), side, 7, grid)
            x = n.add(x, n.from_windows(n.attention(y, heads, bias=n.relative_bias(heads, 49, 49)), side, 7, grid))
            x = n.add(x, n.ffn(n.layer_norm(x)))
        image = n.image(x, side)
    return n, n.classify(image, 1000)


@kind
def t5():
    """An encoder of 64 tokens and a decoder of 32 that attends to it: norms by the mean square, a bias for each distance, no scale."""
    n = Transformer(1, 96, 256)
    tokens, targets = (n.op("Slice", n.x, *(n.constant(np.array([v], np.int64)) for v in (a, b, 1)), shape=(1, b - a, 256)) for a, b in ((0, 64), (64, 96)))
    bias = n.relative_bias(4, 64, 64)
    x = tokens
    for _ in range(3):
        x = n.add(x, n.attention(n.rms_norm(x), 4, bias=bias, scale=False))
        x = n.add(x, n.ffn(n.rms_norm(x), activation="Relu"))
    memory, own = n.rms_norm(x), n.op("Add", n.relative_bias(4, 32, 32), n.causal(32))
    y = targets
    for _ in range(3):
        y = n.add(y, n.attention(n.rms_norm(y), 4, bias=own, scale=False))
        y = n.add(y, n.attention(n.rms_norm(y), 4, memory, scale=False))
        y = n.add(y, n.ffn(n.rms_norm(y), activation="Relu"))
    return n, n.linear(n.rms_norm(y), 2000)


@kind
def clip_text():
    """77 tokens, none of which sees a later one; activations are x sigmoid(1.702 x)."""
    n = Transformer(1, 77, 256)
    x, mask = n.x, n.causal(77)
    for _ in range(4):
        x = n.add(x, n.attention(n.layer_norm(x), 4, bias=mask))
        hidden = n.linear(n.layer_norm(x), 1024)
        x = n.add(x, n.linear(n.op("Mul", hidden, n.op("Sigmoid", n.scalar("Mul", hidden, 1.702))), 256))
    return n, n.layer_norm(x)


@kind
def clip_image():
    """Patches of 32 by 32 pixels and one token for all."""
    n = Transformer(1, 3, 224, 224)
    patches = n.rows(n.conv(n.x, 256, 32, 32, pad=0, activation=None))
    first = n.constant(n.random.standard_normal((1, 1, 256)).astype(np.float32))
    x = n.op("Concat", first, patches, shape=(1, 50, 256), axis=1)
    x = n.layer_norm(n.add(x, n.constant(n.random.standard_normal((50, 256)).astype(np.float32))))
    for _ in range(4):
        x = n.block(x, 4)
    return n, n.layer_norm(x)


@kind
def detr():
    """A convolutional network, an encoder of its pixels, and 50 queries that attend to each other and to them; norms come last."""
    n = Transformer(1, 3, 224, 224)
    image = n.x
    for channels in (32, 64, 128, 256):
        image = n.conv(n.conv(image, channels, 3, 2), channels, 3)
    pixels = n.rows(n.conv(image, 128, 1, activation=None))
    places = n.constant(n.random.standard_normal(pixels.shape).astype(np.float32))
    for _ in range(2):
        pixels = n.layer_norm(n.add(pixels, n.attention(n.add(pixels, places), 4)))
        pixels = n.layer_norm(n.add(pixels, n.ffn(pixels, activation="Relu")))
    memory, x = n.add(pixels, places), n.constant(n.random.standard_normal((1, 50, 128)).astype(np.float32))
    for _ in range(2):
        x = n.layer_norm(n.add(x, n.attention(x, 4)))
        x = n.layer_norm(n.add(x, n.attention(x, 4, memory)))
        x = n.layer_norm(n.add(x, n.ffn(x, activation="Relu")))
    return n, n.op("Concat", n.linear(x, 92), n.activate(n.linear(n.linear(x, 128, "Relu"), 4), "Sigmoid"), shape=(1, 50, 96), axis=2)


@kind
def conformer():
    """200 frames: half a perceptron, attention, a gated depthwise convolution of 31 frames, the other half."""
    n = Transformer(1, 200, 144)
    x = n.x

    def half(x):
        return n.add(x, n.scalar("Mul", n.ffn(n.layer_norm(x), activation="Silu"), 0.5))

    for _ in range(3):
        x = half(x)
        x = n.add(x, n.attention(n.layer_norm(x), 4))
        y = n.conv(n.transpose(n.layer_norm(x), 0, 2, 1), 288, 1, activation=None)
        value, gate = n.split(y, 144, 144)
        y = n.normalise(n.depthwise(n.op("Mul", value, n.op("Sigmoid", gate)), 31, activation=None))
        x = n.add(x, n.transpose(n.conv(n.activate(y, "Silu"), 144, 1, activation=None), 0, 2, 1))
        x = n.layer_norm(half(x))
    return n, n.linear(x, 64)
