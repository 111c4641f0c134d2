"""What quantised operators compute, in numpy: sums in i64, which are exact, and f32 in the order that docs/design/quantised.md states, an operation at a time, each rounded once."""
import numpy as np

F = np.float32


def windows(image, kernel, strides, dilations, pads, outside):
    """The image [n, c, spatial...] as the taps of the kernel see it: an array [n, c, output...] for each tap, in order. Pixels beside the image are `outside`."""
    rank = len(kernel)
    padded = np.pad(image, [(0, 0), (0, 0)] + [(pads[k], pads[k + rank]) for k in range(rank)], constant_values=outside)
    extents = [(padded.shape[2 + k] - (kernel[k] - 1) * dilations[k] - 1) // strides[k] + 1 for k in range(rank)]
    for tap in np.ndindex(*kernel):
        first = [t * d for t, d in zip(tap, dilations)]
        yield padded[(slice(None), slice(None), *(slice(f, f + (e - 1) * s + 1, s) for f, e, s in zip(first, extents, strides)))]


def convolution(x, x_zero, w, w_zero, group=1, strides=None, dilations=None, pads=None):
    """Sums of (x - x_zero) (w - w_zero) in i64; a zero point of the weights may be one for each output channel."""
    rank = x.ndim - 2
    centred = x.astype(np.int64) - int(x_zero)
    weights = w.astype(np.int64) - np.asarray(w_zero, np.int64).reshape(-1, *[1] * (w.ndim - 1))
    m, inputs = w.shape[:2]
    parts = centred.reshape(x.shape[0], group, inputs, *x.shape[2:])
    sums = []
    for g in range(group):
        own = weights[g * (m // group) : (g + 1) * (m // group)]
        taps = windows(parts[:, g], w.shape[2:], strides or [1] * rank, dilations or [1] * rank, pads or [0] * 2 * rank, 0)
        sums.append(sum(np.einsum("nc...,mc->nm...", image, own[(slice(None), slice(None), *tap)]) for image, tap in zip(taps, np.ndindex(*w.shape[2:]))))
    return np.concatenate(sums, axis=1)


def greatest(x, kernel, strides, pads):
    return np.max(list(windows(x.astype(np.int64), kernel, strides, [1] * len(kernel), pads, np.iinfo(np.int64).min)), axis=0)


def quantised(quotient, zero, kind):
    """Half to even, the zero point, saturation."""
    info = np.iinfo(kind)
    return np.clip(np.rint(quotient.astype(F)).astype(np.int64) + int(zero), info.min, info.max).astype(kind)


def real(q, scale, zero):
    """(q - zero) * scale: the difference is exact."""
    return (q.astype(np.int64) - int(zero)).astype(F) * F(scale)


def requantised(sums, x_scale, w_scale, y_scale, zero, kind, clip=None):
    """Of a product: its scales are multiplied to one factor, which is divided by the scale behind it. Clip's bounds are divided, too."""
    factor = (F(x_scale) * np.asarray(w_scale, F)) / F(y_scale)
    if factor.ndim:
        factor = factor.reshape(-1, *[1] * (sums.ndim - 2))
    y = sums.astype(F) * factor
    for bound, choose in zip(clip or (None, None), (np.maximum, np.minimum)):
        if bound is not None:
            y = choose(y, F(bound) / F(y_scale))
    return quantised(y, zero, kind)
