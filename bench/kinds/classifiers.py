"""Classifiers of images, for servers."""
import numpy as np

from kinds.blocks import bottleneck, joined, kind, residual, upsample
from network import Network


@kind
def alexnet():
    n = Network(1, 3, 224, 224)
    x = n.pool(n.conv(n.x, 64, 11, 4, pad=2), 3, 2)
    x = n.pool(n.conv(x, 192, 5), 3, 2)
    for channels in 384, 256, 256:
        x = n.conv(x, channels, 3)
    return n, n.classify(n.pool(x, 3, 2), 1000)


@kind
def vgg11():
    n = Network(1, 3, 112, 112)
    x = n.x
    for channels, layers in (64, 1), (128, 1), (256, 2), (512, 2), (512, 2):
        for _ in range(layers):
            x = n.conv(x, channels, 3)
        x = n.pool(x, 2, 2)
    return n, x


@kind
def inception_v3():
    """Its first two stages: 5x5, and 1x7 with 7x1."""
    n = Network(1, 3, 299, 299)
    x = n.conv(n.conv(n.conv(n.x, 32, 3, 2, pad=0), 32, 3, pad=0), 64, 3)
    x = n.pool(n.conv(n.conv(n.pool(x, 3, 2), 80, 1), 192, 3, pad=0), 3, 2)

    def pooled(x, channels):
        return n.conv(n.pool(x, 3, 1, 1, kind="AveragePool"), channels, 1)

    for channels in 32, 64, 64:
        x = n.concat(n.conv(x, 64, 1), n.conv(n.conv(x, 48, 1), 64, 5), n.conv(n.conv(n.conv(x, 64, 1), 96, 3), 96, 3), pooled(x, channels))
    x = n.concat(n.conv(x, 384, 3, 2, pad=0), n.conv(n.conv(n.conv(x, 64, 1), 96, 3), 96, 3, 2, pad=0), n.pool(x, 3, 2))
    for c in 128, 160, 160, 192:
        once = n.conv(n.conv(n.conv(x, c, 1), c, (1, 7)), 192, (7, 1))
        twice = n.conv(x, c, 1)
        for channels, size in (c, (7, 1)), (c, (1, 7)), (c, (7, 1)), (192, (1, 7)):
            twice = n.conv(twice, channels, size)
        x = n.concat(n.conv(x, 192, 1), once, twice, pooled(x, 192))
    return n, n.classify(x, 1000)


@kind
def densenet():
    n = Network(1, 3, 224, 224)
    x = n.pool(n.conv(n.x, 64, 7, 2), 3, 2, 1)
    for layers in 6, 12, 12:
        for _ in range(layers):
            y = n.conv(n.op("Relu", n.normalise(x)), 128, 1)
            x = n.concat(x, n.conv(y, 32, 3, activation=None))
        x = n.pool(n.conv(n.op("Relu", n.normalise(x)), x.shape[1] // 2, 1, activation=None), 2, 2, kind="AveragePool")
    return n, n.classify(x, 1000)


@kind
def resnet10_batch8():
    n = Network(8, 3, 64, 64)
    x = n.conv(n.x, 32, 3)
    for channels, stride in (32, 1), (64, 2), (128, 2), (256, 2):
        x = residual(n, x, channels, stride)
    return n, n.classify(x, 10)


@kind
def resnext():
    n = Network(1, 3, 224, 224)
    x = n.pool(n.conv(n.x, 64, 7, 2), 3, 2, 1)
    for middle, out, stride in (128, 256, 1), (256, 512, 2), (512, 1024, 2):
        x = bottleneck(n, bottleneck(n, x, middle, out, stride, 32), middle, out, 1, 32)
    return n, n.classify(x, 1000)


@kind
def regnet():
    """Groups of 8 and of 24 channels."""
    n = Network(1, 3, 224, 224)
    x = n.conv(n.x, 32, 3, 2)
    for channels, layers, width in (64, 2, 8), (128, 3, 8), (288, 4, 24):
        for i in range(layers):
            x = bottleneck(n, x, channels, channels, 2 if i == 0 else 1, channels // width)
    return n, n.classify(x, 1000)


@kind
def convmixer():
    """Depthwise 9x9."""
    n = Network(1, 3, 224, 224)

    def activated(y):
        return n.normalise(n.activate(y, "Gelu"))

    x = activated(n.conv(n.x, 256, 7, 7, pad=0, activation=None))
    for _ in range(6):
        x = n.op("Add", x, activated(n.depthwise(x, 9, activation=None)))
        x = activated(n.conv(x, 256, 1, activation=None))
    return n, n.classify(x, 1000)


@kind
def crnn():
    """Pools that are not square, a 2x2 kernel."""
    n = Network(1, 1, 32, 100)
    x = n.pool(n.conv(n.pool(n.conv(n.x, 64, 3), 2, 2), 128, 3), 2, 2)
    x = n.pool(n.conv(n.conv(x, 256, 3), 256, 3), 2, (2, 1), (0, 1))
    x = n.pool(n.conv(x, 512, 3), 2, (2, 1), (0, 1))
    return n, n.conv(x, 512, 2, pad=0)


@kind
def se_resnet():
    n = Network(1, 3, 224, 224)
    x = n.pool(n.conv(n.x, 64, 7, 2), 3, 2, 1)
    for channels, stride in (64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1):
        y = n.excite(n.conv(n.conv(x, channels, 3, stride), channels, 3, activation=None), channels // 16)
        x = joined(n, y, x, stride)
    return n, n.classify(x, 1000)


@kind
def res2net():
    """A convolution for each quarter of the channels, fed by the one before."""
    n = Network(1, 3, 224, 224)
    x = n.pool(n.conv(n.x, 64, 7, 2), 3, 2, 1)
    for width, out, stride in (26, 256, 1), (26, 256, 1), (52, 512, 2), (52, 512, 1), (104, 1024, 2):
        parts = n.split(n.conv(x, 4 * width, 1, stride, pad=0), *[width] * 4)
        done = [n.conv(parts[0], width, 3)]
        for part in parts[1:3]:
            done.append(n.conv(n.op("Add", part, done[-1]), width, 3))
        y = n.conv(n.concat(*done, parts[3]), out, 1, activation=None)
        x = joined(n, y, x, stride)
    return n, n.classify(x, 1000)


@kind
def darknet():
    n = Network(1, 3, 224, 224)
    x = n.conv(n.x, 32, 3, activation="LeakyRelu")
    for channels, layers in (64, 1), (128, 2), (256, 3), (512, 3):
        x = n.conv(x, channels, 3, 2, activation="LeakyRelu")
        for _ in range(layers):
            x = n.op("Add", x, n.conv(n.conv(x, channels // 2, 1, activation="LeakyRelu"), channels, 3, activation="LeakyRelu"))
    return n, n.classify(x, 1000)


@kind
def hrnet():
    """Branches of three resolutions that add to one another."""
    n = Network(1, 3, 256, 192)
    x = n.conv(n.conv(n.x, 32, 3, 2), 32, 3, 2)
    branches = [x, n.conv(x, 64, 3, 2)]
    branches.append(n.conv(branches[1], 128, 3, 2))
    for _ in range(2):
        branches = [residual(n, residual(n, b, b.shape[1], 1), b.shape[1], 1) for b in branches]
        fused = []
        for i, to in enumerate(branches):
            total = to
            for j, source in enumerate(branches):
                if j < i:
                    y = source
                    for step in range(i - j):
                        last = step == i - j - 1
                        y = n.conv(y, to.shape[1] if last else y.shape[1], 3, 2, activation=None if last else "Relu")
                    total = n.op("Add", total, y)
                elif j > i:
                    y = n.conv(source, to.shape[1], 1, activation=None)
                    total = n.op("Add", total, upsample(n, y, 2 ** (j - i)))
            fused.append(n.op("Relu", total))
        branches = fused
    return n, n.conv(branches[0], 17, 1, activation=None)


@kind
def poolformer():
    """Means of neighbours in place of attention."""
    n = Network(1, 3, 224, 224)
    x = n.conv(n.x, 64, 7, 4, pad=2, activation=None)
    for channels, layers in (64, 2), (128, 2), (320, 4):
        if channels != x.shape[1]:
            x = n.conv(x, channels, 3, 2, activation=None)
        for _ in range(layers):
            y = n.normalise(x)
            x = n.op("Add", x, n.op("Sub", n.op("AveragePool", y, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1]), y))
            x = n.op("Add", x, n.conv(n.conv(n.normalise(x), 4 * channels, 1, activation="Gelu"), channels, 1, activation=None))
    return n, n.classify(x, 1000)


@kind
def cbam_resnet():
    """Attention to places: mean and maximum of all channels through a 7x7 convolution."""
    n = Network(1, 3, 112, 112)
    x = n.conv(n.x, 32, 3, 2)
    for channels, stride in (32, 1), (64, 2), (128, 2), (128, 1):
        y = n.excite(n.conv(n.conv(x, channels, 3, stride), channels, 3, activation=None), channels // 8)
        flat = (1, 1, *y.shape[2:])
        both = n.concat(n.op("ReduceMean", y, shape=flat, axes=[1]), n.op("ReduceMax", y, shape=flat, axes=[1]))
        y = n.op("Mul", y, n.conv(both, 1, 7, activation="Sigmoid"))
        x = joined(n, y, x, stride)
    return n, n.classify(x, 100)
