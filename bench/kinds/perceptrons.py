"""Networks of dense layers."""
from kinds.blocks import kind
from network import Network


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


def mixer(n, x, tokens, channels):
    """Dense layers along the rows, then along the columns."""
    y = n.transpose(n.layer_norm(x), 0, 2, 1)
    x = n.op("Add", x, n.transpose(n.linear(n.linear(y, tokens, "Gelu"), x.shape[1]), 0, 2, 1))
    return n.op("Add", x, n.linear(n.linear(n.layer_norm(x), channels, "Gelu"), x.shape[2]))


@kind
def mlp_mixer():
    n = Network(1, 3, 224, 224)
    x = n.conv(n.x, 256, 16, 16, pad=0, activation=None)
    x = n.transpose(n.reshape(x, 1, 256, 196), 0, 2, 1)
    for _ in range(4):
        x = mixer(n, x, 128, 1024)
    return n, n.linear(n.layer_norm(x), 100)


def tabular(batch):
    n = Network(batch, 40)
    x = n.dense(n.x, 192, activation=None)
    for _ in range(3):
        x = n.op("Add", x, n.dense(n.dense(n.normalise(x), 384), 192, activation=None))
    return n, n.dense(n.op("Relu", n.normalise(x)), 1, activation="Sigmoid")


@kind
def tabular_resnet():
    return tabular(1)


@kind
def tabular_resnet_batch64():
    return tabular(64)


@kind
def deep_cross():
    """x0 * (x W + b) + x beside a perceptron."""
    n = Network(16, 120)
    x = n.x
    for _ in range(3):
        x = n.op("Add", n.op("Mul", n.x, n.dense(x, 120, activation=None)), x)
    return n, n.dense(n.concat(x, n.dense(n.dense(n.x, 256), 128)), 1, activation="Sigmoid")


@kind
def nerf():
    """Sines of positions; the input joins again in the middle."""
    n = Network(1024, 3)
    parts = [n.x]
    for i in range(6):
        scaled = n.scalar("Mul", n.x, 2.0**i)
        parts += [n.op("Sin", scaled), n.op("Cos", scaled)]
    first = x = n.concat(*parts)
    for i in range(6):
        x = n.dense(n.concat(first, x) if i == 4 else x, 256)
    return n, n.dense(x, 4, activation=None)


@kind
def siren():
    n = Network(1024, 2)
    x = n.x
    for _ in range(3):
        x = n.dense(x, 128, activation="Sin")
    return n, n.dense(x, 3, activation=None)


@kind
def digits():
    """784 pixels, one image."""
    return perceptron(1, 784, 128, 64, 10)


@kind
def controller():
    """A policy of a robot."""
    n = Network(1, 48)
    x = n.x
    for size in 256, 128, 64:
        x = n.dense(x, size, activation="Elu")
    return n, n.op("Tanh", n.dense(x, 12, activation=None))
