"""The list of kinds, and the blocks that several of them are made of."""
KINDS = {}


def kind(function):
    """A function that makes a network is listed by its name; it returns the Network and the Value that is its result."""
    KINDS[function.__name__] = function
    return function


def residual(n, x, channels, stride, kernel=3):
    y = n.conv(n.conv(x, channels, kernel, stride), channels, kernel, activation=None)
    same = stride == 1 and x.shape[1] == channels
    return n.op("Relu", n.op("Add", y, x if same else n.conv(x, channels, 1, stride, pad=0, activation=None)))


def bottleneck(n, x, middle, out, stride, groups):
    y = n.conv(n.conv(n.conv(x, middle, 1), middle, 3, stride, group=groups), out, 1, activation=None)
    same = stride == 1 and x.shape[1] == out
    return n.op("Relu", n.op("Add", y, x if same else n.conv(x, out, 1, stride, pad=0, activation=None)))
