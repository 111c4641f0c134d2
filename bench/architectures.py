#!/usr/bin/env python3
"""Writes networks of well-known kinds with random weights, for comparisons beyond the zoo: layers of many shapes, as papers have them.

  bench/architectures.py models                 all of them, models/NAME/model.onnx
  bench/architectures.py models vgg11 dcgan     these
  bench/architectures.py --list
  bench/peers.py models/*/                      compares onnxc with the other engines on them

Exit status: 0, or 2 for wrong usage.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx

from network import Network

KINDS = {}


def kind(function):
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
def convmixer():
    """Depthwise 9x9."""
    n = Network(1, 3, 224, 224)

    def activated(y):
        erf = n.op("Erf", n.op("Div", y, n.constant(np.float32(2 ** 0.5))))
        return n.normalise(n.op("Mul", n.op("Mul", y, n.op("Add", erf, n.constant(np.float32(1)))), n.constant(np.float32(0.5))))

    x = activated(n.conv(n.x, 256, 7, 7, pad=0, activation=None))
    for _ in range(6):
        x = n.op("Add", x, activated(n.depthwise(x, 9, activation=None)))
        x = activated(n.conv(x, 256, 1, activation=None))
    return n, n.classify(x, 1000)


@kind
def erfnet():
    """3x1 and 1x3."""
    n = Network(1, 3, 256, 256)
    x = n.conv(n.conv(n.x, 16, 3, 2), 64, 3, 2)
    for channels, layers in (64, 5), (128, 4):
        if channels != x.shape[1]:
            x = n.conv(x, channels, 3, 2)
        for _ in range(layers):
            y = n.conv(n.conv(n.conv(x, channels, (3, 1)), channels, (1, 3)), channels, (3, 1))
            x = n.op("Relu", n.op("Add", x, n.conv(y, channels, (1, 3), activation=None)))
    return n, n.conv(x, 20, 1, activation=None)


@kind
def deeplab():
    """Dilated, and a bilinear image at the end."""
    n = Network(1, 3, 256, 256)
    x = n.conv(n.conv(n.conv(n.x, 32, 3, 2), 64, 3, 2), 128, 3, 2)
    for dilation in 2, 2, 4, 4:
        x = n.conv(x, 128, 3, dilation=dilation)
    x = n.concat(n.conv(x, 64, 1), n.conv(x, 64, 3, dilation=6), n.conv(x, 64, 3, dilation=12))
    return n, n.resize(n.conv(n.conv(x, 64, 1), 21, 1, activation=None), 8, mode="linear", coordinate_transformation_mode="half_pixel")


@kind
def style_transfer():
    n = Network(1, 3, 256, 256)

    def normalised(x):
        return n.normalise(x, "InstanceNormalization")

    x = n.x
    for channels, kernel, stride in (32, 9, 1), (64, 3, 2), (128, 3, 2):
        x = n.op("Relu", normalised(n.conv(x, channels, kernel, stride, activation=None)))
    for _ in range(3):
        y = n.op("Relu", normalised(n.conv(x, 128, 3, activation=None)))
        x = n.op("Add", x, normalised(n.conv(y, 128, 3, activation=None)))
    for channels in 64, 32:
        x = n.resize(x, 2, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        x = n.op("Relu", normalised(n.conv(x, channels, 3, activation=None)))
    return n, n.conv(x, 3, 9, activation=None)


@kind
def srcnn():
    n = Network(1, 1, 200, 200)
    return n, n.conv(n.conv(n.conv(n.x, 64, 9), 32, 5), 1, 5, activation=None)


@kind
def fsrcnn():
    """A transposed convolution to one channel."""
    n = Network(1, 1, 128, 128)
    x = n.conv(n.conv(n.x, 56, 5), 12, 1)
    for _ in range(4):
        x = n.conv(x, 12, 3)
    return n, n.conv_transpose(n.conv(x, 56, 1), 1, 9, 2, pad=4, extra=1)


@kind
def dcgan():
    n = Network(1, 128)
    x = n.reshape(n.dense(n.x, 512 * 16, activation=None), 1, 512, 4, 4)
    for channels in 256, 128, 64:
        x = n.op("Relu", n.conv_transpose(x, channels, 4, 2, pad=1))
    return n, n.op("Tanh", n.conv_transpose(x, 3, 4, 2, pad=1))


@kind
def crnn():
    """Pools that are not square, a 2x2 kernel."""
    n = Network(1, 1, 32, 100)
    x = n.pool(n.conv(n.pool(n.conv(n.x, 64, 3), 2, 2), 128, 3), 2, 2)
    x = n.pool(n.conv(n.conv(x, 256, 3), 256, 3), 2, (2, 1), (0, 1))
    x = n.pool(n.conv(x, 512, 3), 2, (2, 1), (0, 1))
    return n, n.conv(x, 512, 2, pad=0)


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
def volume_cnn():
    n = Network(1, 1, 16, 64, 64)
    x = n.pool(n.conv(n.conv(n.x, 16, 3), 32, 3), 2, 2)
    return n, n.conv(n.conv(x, 64, 3), 64, 3)


@kind
def unet_3d():
    n = Network(1, 1, 32, 64, 64)
    outer = n.conv(n.conv(n.x, 16, 3), 16, 3)
    inner = n.conv(n.conv(n.pool(outer, 2, 2), 32, 3), 32, 3)
    x = n.conv(n.conv(n.pool(inner, 2, 2), 64, 3), 64, 3)
    x = n.conv(n.conv(n.concat(n.conv_transpose(x, 32, 2, 2), inner), 32, 3), 32, 3)
    x = n.conv(n.conv(n.concat(n.conv_transpose(x, 16, 2, 2), outer), 16, 3), 16, 3)
    return n, n.conv(x, 4, 1, activation=None)


@kind
def r2plus1d():
    """Video: within frames, then along time."""
    n = Network(1, 3, 8, 112, 112)
    x = n.conv(n.conv(n.x, 45, (1, 7, 7), (1, 2, 2)), 64, (3, 1, 1))
    for channels, stride in (64, 1), (64, 1), (128, 2), (128, 1):
        x = n.conv(n.conv(x, 2 * channels, (1, 3, 3), (1, stride, stride)), channels, (3, 1, 1), (stride, 1, 1))
    return n, n.classify(x, 10)


def perceptron(batch, *sizes):
    n = Network(batch, sizes[0])
    x = n.x
    for size in sizes[1:-1]:
        x = n.dense(x, size)
    return n, n.dense(x, sizes[-1], activation=None)


@kind
def mlp_one_row():
    return perceptron(1, 64, 256, 256, 256, 1)


@kind
def mlp_batch32():
    return perceptron(32, 784, 512, 256, 128, 10)


@kind
def mlp_batch256():
    return perceptron(256, 128, 512, 512, 256, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", metavar="DIR", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    options = parser.parse_args()
    if options.list:
        print("\n".join(KINDS))
        return
    if options.folder is None:
        parser.error("a folder is needed")
    for name in options.names:
        if name not in KINDS:
            parser.error(f"no architecture is called '{name}'; --list prints those that there are")
    for name in options.names or KINDS:
        network, result = KINDS[name]()
        folder = options.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(network.model(result), folder / "model.onnx")
        print(folder / "model.onnx", file=sys.stderr)


if __name__ == "__main__":
    main()
