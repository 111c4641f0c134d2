"""The list of kinds, and the blocks that several of them are made of."""
KINDS = {}


def kind(function):
    """A function that makes a network is listed by its name; it returns the Network and the Value that is its result."""
    KINDS[function.__name__] = function
    return function


def upsample(n, x, times=2):
    """Each pixel several times."""
    return n.resize(x, times, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def joined(n, y, x, stride):
    """relu(y + x), or a 1x1 convolution of x where that has another shape."""
    return n.op("Relu", n.op("Add", y, x if y.shape == x.shape else n.conv(x, y.shape[1], 1, stride, pad=0, activation=None)))


def residual(n, x, channels, stride, kernel=3):
    return joined(n, n.conv(n.conv(x, channels, kernel, stride), channels, kernel, activation=None), x, stride)


def bottleneck(n, x, middle, out, stride, groups):
    return joined(n, n.conv(n.conv(n.conv(x, middle, 1), middle, 3, stride, group=groups), out, 1, activation=None), x, stride)
