"""Signals: one spatial axis."""
from kinds.blocks import kind, residual
from network import Network


@kind
def quartznet():
    """Depthwise signals with kernels of 33 to 51."""
    n = Network(1, 64, 1000)
    x = n.conv(n.x, 256, 33, 2)
    for kernel in 33, 33, 39, 39, 51, 51:
        x = n.conv(n.depthwise(x, kernel, activation=None), 256, 1)
    return n, n.conv(x, 32, 1, activation=None)


@kind
def ecg_resnet():
    """Signals with kernels of 15."""
    n = Network(1, 12, 2000)
    x = n.conv(n.x, 64, 15, 2)
    for channels, stride in (64, 1), (128, 2), (128, 1), (256, 2):
        x = residual(n, x, channels, stride, kernel=15)
    return n, n.classify(x, 10)


@kind
def signal_cnn():
    """Signals with kernels of 5 and 7."""
    n = Network(1, 16, 2000)
    x = n.conv(n.x, 64, 7)
    for channels, kernel in (64, 5), (64, 5), (64, 5), (64, 5), (128, 5), (128, 7):
        x = n.conv(x, channels, kernel)
    return n, x


@kind
def wavenet():
    """Dilated, gated by a sigmoid, its layers summed."""
    n = Network(1, 1, 4000)
    x, total = n.conv(n.x, 32, 1, activation=None), None
    for i in range(8):
        parts = n.split(n.conv(x, 64, 3, dilation=2**i, activation=None), 32, 32)
        y = n.op("Mul", n.op("Tanh", parts[0]), n.op("Sigmoid", parts[1]))
        skipped = n.conv(y, 64, 1, activation=None)
        total = skipped if total is None else n.op("Add", total, skipped)
        x = n.op("Add", x, n.conv(y, 32, 1, activation=None))
    return n, n.conv(n.conv(n.op("Relu", total), 64, 1), 256, 1, activation=None)


@kind
def inception_time():
    """Kernels of 39, 19 and 9 side by side."""
    n = Network(1, 8, 512)
    x = n.x
    for _ in range(4):
        y = n.conv(x, 32, 1, activation=None)
        parts = [n.conv(y, 32, kernel, activation=None) for kernel in (39, 19, 9)]
        x = n.op("Relu", n.normalise(n.concat(*parts, n.conv(n.pool(x, 3, 1, 1), 32, 1, activation=None))))
    return n, n.classify(x, 12)


@kind
def conv_tasnet():
    """Depthwise and dilated, with slopes and norms."""
    n = Network(1, 1, 8000)
    x = n.conv(n.conv(n.x, 256, 16, 8, pad=4), 128, 1, activation=None)
    for i in range(6):
        y = n.activate(n.depthwise(n.normalise(n.conv(x, 256, 1, activation="PRelu"), "InstanceNormalization"), 3, dilation=2**i, activation=None), "PRelu")
        x = n.op("Add", x, n.conv(y, 128, 1, activation=None))
    return n, n.conv(x, 256, 1, activation="Sigmoid")


@kind
def pointnet():
    """Each point by itself, then the maximum of all."""
    n = Network(1, 3, 1024)
    x = n.x
    for channels in 64, 64, 64, 128, 1024:
        x = n.conv(x, channels, 1)
    return n, n.dense(n.dense(n.op("ReduceMax", x, shape=(1, 1024), axes=[2], keepdims=0), 512), 40, activation=None)


@kind
def human_activity():
    """A small network for accelerometers."""
    n = Network(1, 6, 128)
    x = n.pool(n.conv(n.conv(n.x, 32, 5), 32, 5), 2, 2)
    x = n.pool(n.conv(n.conv(x, 64, 3), 64, 3), 2, 2)
    return n, n.classify(x, 6)


def dilated(n, x, kernel, dilations):
    """As vocoders have them: leaks, dilated convolutions, sums."""
    for dilation in dilations:
        y = n.conv(n.op("LeakyRelu", x, alpha=0.1), x.shape[1], kernel, dilation=dilation, activation=None)
        x = n.op("Add", x, n.conv(n.op("LeakyRelu", y, alpha=0.1), x.shape[1], kernel, activation=None))
    return x


@kind
def hifigan():
    """64 frames of a spectrogram become 16384 samples: transposed convolutions, and three kernels side by side behind each."""
    n = Network(1, 80, 64)
    x = n.conv(n.x, 128, 7, activation=None)
    for channels, stride in (64, 8), (32, 8), (16, 4):
        x = n.conv_transpose(n.op("LeakyRelu", x, alpha=0.1), channels, 2 * stride, stride, pad=stride // 2)
        parts = [dilated(n, x, kernel, (1, 3, 5)) for kernel in (3, 7, 11)]
        x = n.scalar("Div", n.op("Add", n.op("Add", parts[0], parts[1]), parts[2]), 3)
    return n, n.op("Tanh", n.conv(n.op("LeakyRelu", x, alpha=0.01), 1, 7, activation=None))


@kind
def vits_flow():
    """A text encoder's width of frames through coupling layers: gated, dilated convolutions change one half by the other."""
    n = Network(1, 128, 150)
    x = n.x
    for _ in range(3):
        a, b = n.split(x, 64, 64)
        hidden, skips = n.conv(a, 128, 1, activation=None), None
        for dilation in (1, 2, 4):
            y = n.conv(hidden, 256, 5, dilation=dilation, activation=None)
            value, gate = n.split(y, 128, 128)
            both = n.conv(n.op("Mul", n.op("Tanh", value), n.op("Sigmoid", gate)), 256, 1, activation=None)
            more, skip = n.split(both, 128, 128)
            hidden = n.op("Add", hidden, more)
            skips = skip if skips is None else n.op("Add", skips, skip)
        x = n.concat(n.op("Add", b, n.conv(skips, 64, 1, activation=None)), a)
    return n, x
