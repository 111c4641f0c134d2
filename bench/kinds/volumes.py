"""Volumes and video: three spatial axes."""
from kinds.blocks import kind
from network import Network


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
