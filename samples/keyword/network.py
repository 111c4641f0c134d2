"""A small network of depthwise-separable convolutions (DS-CNN) and its training, in plain numpy.

Values are [n, height, width, channels]. Every convolution is followed by batch normalisation and Relu. A layer's forward function gives its result and what the
backward one needs of it; parameters and their gradients are lists in the same order.
"""
import numpy as np

CHANNELS, BLOCKS, CLASSES = 48, 4, 12
FIRST, FIRST_PADS = (10, 4), ((4, 5), (1, 1))  # kernel and zeros around 49 frames of 10; strides of 2 leave 25 x 5
EPSILON = 1e-5


def parameters(random):
    """Weights by He, scales 1, offsets 0: per convolution weight, scale, offset; then weight and bias of the last layer."""
    shapes = [(np.prod(FIRST), CHANNELS)] + [(3, 3, CHANNELS), (CHANNELS, CHANNELS)] * BLOCKS
    params = []
    for shape in shapes:
        fan = 9 if len(shape) == 3 else shape[0]
        params += [random.standard_normal(shape) * np.sqrt(2 / fan), np.ones(CHANNELS), np.zeros(CHANNELS)]
    params += [random.standard_normal((CHANNELS, CLASSES)) * np.sqrt(1 / CHANNELS), np.zeros(CLASSES)]
    return [p.astype(np.float32) for p in params]


def patches(x):
    """[n, 49, 10] -> [n, 25, 5, 40]: what each output of the first convolution sees."""
    padded = np.pad(x, ((0, 0), *FIRST_PADS))
    windows = np.lib.stride_tricks.sliding_window_view(padded, FIRST, axis=(1, 2))[:, ::2, ::2]
    return np.ascontiguousarray(windows).reshape(*windows.shape[:3], -1)


def taps(x):
    """The nine shifts of x by a pixel, zeros around it: (row, column, view). Rows of pixels with their channels are one axis, since numpy likes long ones: [n, h, w * c]."""
    n, h, w, c = x.shape
    padded = np.zeros((n, h + 2, (w + 2) * c), np.float32)
    padded[:, 1:-1, c:-c] = x.reshape(n, h, w * c)
    return [(i, j, padded[:, i : i + h, j * c : (j + w) * c]) for i in range(3) for j in range(3)]


def depthwise(x, weight):
    found, product = np.zeros((2, x.shape[0], x.shape[1], x.shape[2] * x.shape[3]), np.float32)
    for i, j, view in taps(x):
        found += np.multiply(view, np.tile(weight[i, j], x.shape[2]), out=product)
    return found.reshape(x.shape)


def convolve(x, weight):
    """Pointwise if the weight is a matrix, else depthwise 3 x 3."""
    return x @ weight if weight.ndim == 2 else depthwise(x, weight)


def convolve_back(x, weight, d):
    """Gradients of the input and of the weight."""
    n, h, w, c = d.shape
    if weight.ndim == 2:
        return d @ weight.T, x.reshape(-1, x.shape[-1]).T @ d.reshape(-1, c)
    gradient = np.empty_like(weight)
    for i, j, view in taps(x):
        gradient[i, j] = np.einsum("nhk,nhk->k", view, d.reshape(n, h, w * c)).reshape(w, c).sum(axis=0)
    return depthwise(d, weight[::-1, ::-1]), gradient


def forward(params, statistics, x, training=False):
    """Logits [n, 12] of features [n, 49, 10]. `statistics`: mean and variance of each convolution, which training moves."""
    kept = []
    x = patches(x)
    for layer in range(len(params) // 3):
        weight, scale, offset = params[3 * layer : 3 * layer + 3]
        z = convolve(x, weight)
        if training:
            mean, variance = z.mean(axis=(0, 1, 2)), z.var(axis=(0, 1, 2))
            for running, now in zip(statistics[layer], (mean, variance)):
                running += 0.05 * (now - running)
        else:
            mean, variance = statistics[layer]
        deviation = np.sqrt(variance + EPSILON)
        normal = (z - mean) / deviation
        y = np.maximum(normal * scale + offset, 0)
        if training:
            kept.append((x, normal, deviation, y))
        x = y
    pooled = x.mean(axis=(1, 2))
    return pooled @ params[-2] + params[-1], (kept, pooled)


def gradients(params, statistics, x, labels, smoothing=0.02):
    """Of the mean cross-entropy with smoothed labels, for each parameter."""
    logits, (kept, pooled) = forward(params, statistics, x, training=True)
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    d = e / e.sum(axis=1, keepdims=True) - smoothing / CLASSES
    d[np.arange(len(x)), labels] -= 1 - smoothing
    d = (d / len(x)).astype(np.float32)
    found = [pooled.T @ d, d.sum(axis=0)]
    n, h, w, _ = kept[-1][3].shape
    d = np.broadcast_to((d @ params[-2].T / (h * w))[:, None, None], (n, h, w, CHANNELS))
    for layer in reversed(range(len(kept))):
        x, normal, deviation, y = kept[layer]
        weight, scale, _ = params[3 * layer : 3 * layer + 3]
        d = d * (y > 0)
        count = d.size // CHANNELS
        of_scale, of_offset = np.einsum("nhwc,nhwc->c", d, normal), d.sum(axis=(0, 1, 2))
        d = (d - of_offset / count - normal * (of_scale / count)) * (scale / deviation)
        d, of_weight = convolve_back(x, weight, d)
        found = [of_weight, of_scale, of_offset] + found
    return found


class Adam:
    """Steps down gradients, with the rate that each call gives, and weights decay."""

    def __init__(self, params):
        self.first, self.second, self.step = [np.zeros_like(p) for p in params], [np.zeros_like(p) for p in params], 0

    def __call__(self, params, gradients, rate, decay=1e-4):
        self.step += 1
        for p, m, v, g in zip(params, self.first, self.second, gradients):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            p -= (rate * (m / (1 - 0.9**self.step) / (np.sqrt(v / (1 - 0.999**self.step)) + 1e-8) + decay * p * (p.ndim > 1))).astype(np.float32)


def folded(params, statistics):
    """Weight and bias of each convolution with its normalisation in them, then those of the last layer."""
    found = []
    for layer, (mean, variance) in enumerate(statistics):
        weight, scale, offset = params[3 * layer : 3 * layer + 3]
        factor = scale / np.sqrt(variance + EPSILON)
        found += [weight * factor, offset - mean * factor]
    return found + params[-2:]
