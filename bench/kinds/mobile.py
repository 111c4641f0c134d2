"""Small networks for images: phones and microcontrollers."""
from kinds.blocks import kind
from network import Network


@kind
def shufflenet_v1():
    """1x1 convolutions in three groups."""
    n = Network(1, 3, 224, 224)
    x = n.conv(n.pool(n.conv(n.x, 24, 3, 2), 3, 2, 1), 240, 1)
    for _ in range(4):
        y = n.conv(x, 60, 1, group=3)
        y = n.op("Transpose", n.reshape(y, 1, 3, 20, 56, 56), shape=(1, 20, 3, 56, 56), perm=[0, 2, 1, 3, 4])
        y = n.conv(n.depthwise(n.reshape(y, 1, 60, 56, 56), 3, activation=None), 240, 1, group=3, activation=None)
        x = n.op("Relu", n.op("Add", x, y))
    return n, n.classify(x, 1000)


@kind
def mobilenet_v1_025():
    n = Network(1, 3, 224, 224)
    x = n.conv(n.x, 8, 3, 2)
    for channels, stride in (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1):
        x = n.conv(n.depthwise(x, 3, stride), channels, 1)
    return n, n.classify(x, 1000)


@kind
def blazeface():
    """Depthwise 5x5, and channels that fill no vector."""
    n = Network(1, 3, 128, 128)
    x = n.conv(n.x, 24, 5, 2)
    for channels, stride in (24, 1), (28, 1), (32, 2), (36, 1), (42, 1), (48, 2), (56, 1), (64, 1), (96, 2), (96, 1):
        y = n.conv(n.depthwise(x, 5, stride, activation=None), channels, 1, activation=None)
        x = n.op("Relu", n.op("Add", x, y) if y.shape == x.shape else y)
    return n, n.classify(x, 10)


@kind
def mobilenet_v1():
    n = Network(1, 3, 224, 224)
    x = n.conv(n.x, 32, 3, 2)
    for channels, stride in (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1):
        x = n.conv(n.depthwise(x, 3, stride), channels, 1)
    return n, n.classify(x, 1000)


@kind
def ghostnet():
    """Half of the channels made of the other half, by depthwise convolutions."""
    n = Network(1, 3, 224, 224)

    def ghost(x, channels, activation):
        half = n.conv(x, channels // 2, 1, activation=activation)
        return n.concat(half, n.depthwise(half, 3, activation=activation))

    x = n.conv(n.x, 16, 3, 2)
    for middle, out, kernel, stride, squeezed in (16, 16, 3, 1, 0), (48, 24, 3, 2, 0), (72, 24, 3, 1, 0), (72, 40, 5, 2, 20), (120, 40, 5, 1, 32), (240, 80, 3, 2, 0), (200, 80, 3, 1, 0), (
        480, 112, 3, 1, 120), (672, 160, 5, 2, 168):
        y = ghost(x, middle, "Relu")
        if stride == 2:
            y = n.depthwise(y, kernel, 2, activation=None)
        if squeezed:
            y = n.excite(y, squeezed, "HardSigmoid")
        y = ghost(y, out, None)
        short = x if y.shape == x.shape else n.conv(n.depthwise(x, kernel, stride, activation=None), out, 1, activation=None)
        x = n.op("Add", y, short)
    return n, n.classify(x, 1000)


@kind
def efficientnet_v2():
    """3x3 convolutions to four times the channels, then blocks with depthwise ones."""
    n = Network(1, 3, 192, 192)
    x = n.conv(n.x, 24, 3, 2, activation="Silu")
    for channels, layers, stride in (24, 1, 1), (48, 2, 2), (64, 2, 2):
        for i in range(layers):
            y = n.conv(n.conv(x, 4 * x.shape[1], 3, stride if i == 0 else 1, activation="Silu"), channels, 1, activation=None)
            x = n.op("Add", x, y) if y.shape == x.shape else y
    for channels, layers, stride in (128, 3, 2), (160, 3, 1):
        for i in range(layers):
            y = n.depthwise(n.conv(x, 4 * x.shape[1], 1, activation="Silu"), 3, stride if i == 0 else 1, activation="Silu")
            y = n.conv(n.excite(y, x.shape[1] // 4), channels, 1, activation=None)
            x = n.op("Add", x, y) if y.shape == x.shape else y
    return n, n.classify(x, 1000)


@kind
def mobilefacenet():
    """A slope for each channel, a depthwise convolution as large as the image."""
    n = Network(1, 3, 112, 112)
    x = n.depthwise(n.conv(n.x, 64, 3, 2, activation="PRelu"), 3, activation="PRelu")
    for middle, out, stride in (128, 64, 2), (128, 64, 1), (128, 64, 1), (256, 128, 2), (256, 128, 1), (256, 128, 1), (512, 128, 2), (256, 128, 1):
        y = n.conv(n.depthwise(n.conv(x, middle, 1, activation="PRelu"), 3, stride, activation="PRelu"), out, 1, activation=None)
        x = n.op("Add", x, y) if y.shape == x.shape else y
    x = n.conv(n.conv(x, 512, 1, activation="PRelu"), 512, 7, group=512, pad=0, activation=None)
    return n, n.conv(x, 128, 1, activation=None)


@kind
def xception():
    n = Network(1, 3, 149, 149)
    x = n.conv(n.conv(n.x, 32, 3, 2, pad=0), 64, 3, pad=0)
    for channels in 128, 256:
        y = n.conv(n.depthwise(n.op("Relu", n.conv(n.depthwise(x, 3, activation=None), channels, 1, activation=None)), 3, activation=None), channels, 1, activation=None)
        x = n.op("Add", n.pool(y, 3, 2, 1), n.conv(x, channels, 1, 2, pad=0, activation=None))
    for _ in range(2):
        y = x
        for _ in range(3):
            y = n.conv(n.depthwise(n.op("Relu", y), 3, activation=None), 256, 1, activation=None)
        x = n.op("Add", x, y)
    return n, n.classify(x, 1000)
