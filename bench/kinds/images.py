"""Images from images: segmentation, detection, super-resolution, synthesis."""
from kinds.blocks import kind, residual, upsample
from network import Network


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
        x = upsample(n, x)
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
def yolo_v8():
    """Silu everywhere, halves that go on by themselves, three scales joined in one result."""
    n = Network(1, 3, 320, 320)

    def conv(x, channels, kernel, stride=1):
        return n.conv(x, channels, kernel, stride, activation="Silu")

    def c2f(x, channels, short):
        parts = n.split(conv(x, channels, 1), channels // 2, channels // 2)
        y = conv(conv(parts[1], channels // 2, 3), channels // 2, 3)
        return conv(n.concat(*parts, n.op("Add", parts[1], y) if short else y), channels, 1)

    x = c2f(conv(conv(n.x, 16, 3, 2), 32, 3, 2), 32, True)
    p3 = c2f(conv(x, 64, 3, 2), 64, True)
    p4 = c2f(conv(p3, 128, 3, 2), 128, True)
    x = conv(c2f(conv(p4, 256, 3, 2), 256, True), 128, 1)
    pools = [x]
    for _ in range(3):
        pools.append(n.pool(pools[-1], 5, 1, 2))
    p5 = conv(n.concat(*pools), 256, 1)
    n4 = c2f(n.concat(upsample(n, p5), p4), 128, False)
    n3 = c2f(n.concat(upsample(n, n4), p3), 64, False)
    n4 = c2f(n.concat(conv(n3, 64, 3, 2), n4), 128, False)
    n5 = c2f(n.concat(conv(n4, 128, 3, 2), p5), 256, False)
    heads = []
    for x in n3, n4, n5:
        boxes = n.conv(conv(conv(x, 64, 3), 64, 3), 64, 1, activation=None)
        classes = n.conv(conv(conv(x, 80, 3), 80, 3), 80, 1, activation="Sigmoid")
        heads.append(n.reshape(n.concat(boxes, classes), 1, 144, x.shape[2] * x.shape[3]))
    return n, n.op("Concat", *heads, shape=(1, 144, sum(h.shape[2] for h in heads)), axis=2)


@kind
def tiny_yolo():
    n = Network(1, 3, 208, 208)
    x = n.conv(n.x, 16, 3, activation="LeakyRelu")
    for channels in 32, 64, 128, 256, 512:
        x = n.conv(n.pool(x, 2, 2), channels, 3, activation="LeakyRelu")
    x = n.conv(n.op("MaxPool", x, kernel_shape=[2, 2], strides=[1, 1], pads=[0, 0, 1, 1]), 512, 3, activation="LeakyRelu")
    return n, n.conv(n.conv(x, 256, 1, activation="LeakyRelu"), 125, 1, activation=None)


@kind
def retinanet():
    """A pyramid of features, heads that share their kind, not their weights."""
    n = Network(1, 3, 256, 256)
    x = n.pool(n.conv(n.x, 32, 7, 2), 3, 2, 1)
    levels = []
    for channels, stride in (64, 2), (128, 2), (256, 2):
        x = n.conv(n.conv(x, channels, 3, stride), channels, 3)
        levels.append(x)
    top, results = None, []
    for level in reversed(levels):
        x = n.conv(level, 96, 1, activation=None)
        top = x if top is None else n.op("Add", x, upsample(n, top))
        y = n.conv(n.conv(n.conv(top, 96, 3, activation=None), 96, 3), 36, 3, activation="Sigmoid")
        cells = y.shape[2] * y.shape[3]
        results.append(n.reshape(n.transpose(y, 0, 2, 3, 1), 1, cells * 9, 4))
    return n, n.op("Concat", *results, shape=(1, sum(r.shape[1] for r in results), 4), axis=1)


@kind
def bifpn():
    """Weighted sums of scales, separable convolutions."""
    n = Network(1, 3, 256, 256)
    x = n.conv(n.conv(n.x, 32, 3, 2, activation="Silu"), 64, 3, 2, activation="Silu")
    levels = []
    for _ in range(3):
        x = n.conv(x, 64, 3, 2, activation="Silu")
        levels.append(x)

    def merged(a, b):
        y = n.op("Add", n.scalar("Mul", a, 0.6), n.scalar("Mul", b, 0.4))
        return n.conv(n.depthwise(n.activate(y, "Silu"), 3, activation=None), 64, 1, activation=None)

    for _ in range(3):
        middle = merged(levels[1], upsample(n, levels[2]))
        low = merged(levels[0], upsample(n, middle))
        middle = merged(middle, n.pool(low, 3, 2, 1))
        levels = [low, middle, merged(levels[2], n.pool(middle, 3, 2, 1))]
    return n, n.conv(levels[0], 36, 1, activation=None)


@kind
def srresnet():
    """Four times the sides, by channels that become pixels."""
    n = Network(1, 3, 64, 64)
    first = x = n.conv(n.x, 64, 9, activation="PRelu")
    for _ in range(4):
        x = n.op("Add", x, n.conv(n.conv(x, 64, 3, activation="PRelu"), 64, 3, activation=None))
    x = n.op("Add", first, n.conv(x, 64, 3, activation=None))
    for _ in range(2):
        x = n.conv(x, 256, 3, activation=None)
        x = n.activate(n.op("DepthToSpace", x, shape=(1, 64, 2 * x.shape[2], 2 * x.shape[3]), blocksize=2, mode="CRD"), "PRelu")
    return n, n.conv(x, 3, 9, activation=None)


@kind
def esrgan():
    """Dense blocks, and sums with a fifth of what they give."""
    n = Network(1, 3, 64, 64)
    x = n.conv(n.x, 32, 3, activation=None)
    for _ in range(3):
        parts = [x]
        for _ in range(4):
            parts.append(n.conv(n.concat(*parts) if len(parts) > 1 else x, 16, 3, activation="LeakyRelu"))
        x = n.op("Add", x, n.scalar("Mul", n.conv(n.concat(*parts), 32, 3, activation=None), 0.2))
    x = n.conv(upsample(n, x), 32, 3, activation="LeakyRelu")
    return n, n.conv(x, 3, 3, activation=None)


@kind
def dncnn():
    n = Network(1, 1, 128, 128)
    x = n.conv(n.x, 64, 3)
    for _ in range(6):
        x = n.conv(x, 64, 3)
    return n, n.op("Sub", n.x, n.conv(x, 1, 3, activation=None))


@kind
def autoencoder_2d():
    n = Network(1, 3, 128, 128)
    x = n.x
    for channels in 32, 64, 128:
        x = n.conv(x, channels, 3, 2)
    for channels in 64, 32:
        x = n.op("Relu", n.conv_transpose(x, channels, 3, 2, pad=1, extra=1))
    return n, n.op("Sigmoid", n.conv_transpose(x, 3, 3, 2, pad=1, extra=1))


@kind
def pspnet():
    """Means of regions, made as large as the image again."""
    n = Network(1, 3, 192, 192)
    x = n.conv(n.conv(n.conv(n.x, 32, 3, 2), 64, 3, 2), 128, 3, 2)
    x = residual(n, residual(n, x, 128, 1), 128, 1)
    parts = [x]
    for size in 24, 12, 8, 4:
        y = n.conv(n.pool(x, size, size, kind="AveragePool"), 32, 1)
        parts.append(n.resize(y, size, mode="linear", coordinate_transformation_mode="half_pixel"))
    return n, n.conv(n.conv(n.concat(*parts), 64, 3), 21, 1, activation=None)


@kind
def nafnet():
    """Normalised over channels; products of halves in place of activations."""
    n = Network(1, 3, 128, 128)
    x = n.conv(n.x, 32, 3, activation=None)

    def normalised(x):
        return n.transpose(n.layer_norm(n.transpose(x, 0, 2, 3, 1)), 0, 3, 1, 2)

    def halves(x):
        return n.op("Mul", *n.split(x, x.shape[1] // 2, x.shape[1] // 2))

    for _ in range(3):
        c = x.shape[1]
        y = halves(n.depthwise(n.conv(normalised(x), 2 * c, 1, activation=None), 3, activation=None))
        y = n.op("Mul", y, n.conv(n.mean(y), c, 1, activation=None))
        x = n.op("Add", x, n.conv(y, c, 1, activation=None))
        x = n.op("Add", x, n.conv(halves(n.conv(normalised(x), 2 * c, 1, activation=None)), c, 1, activation=None))
    return n, n.op("Add", n.x, n.conv(x, 3, 3, activation=None))


@kind
def segformer_head():
    """Rows of pixels become images of one size, side by side for a convolution; the classes go out as large as the image."""
    n = Network(1, 3, 256, 256)
    x, parts = n.x, []
    for channels, stride in (32, 4), (64, 2), (160, 2), (256, 2):
        x = n.conv(x, channels, 7 if stride == 4 else 3, stride, activation=None)
        side = x.shape[2]
        rows = n.transpose(n.reshape(x, 1, channels, side * side), 0, 2, 1)
        rows = n.op("Add", rows, n.linear(n.layer_norm(rows), channels))
        x = n.reshape(n.transpose(rows, 0, 2, 1), 1, channels, side, side)
        part = n.reshape(n.transpose(n.linear(rows, 128), 0, 2, 1), 1, 128, side, side)
        parts.append(n.resize(part, 64 // side, mode="linear", coordinate_transformation_mode="half_pixel") if side != 64 else part)
    y = n.conv(n.conv(n.concat(*parts), 128, 1), 21, 1, activation=None)
    return n, n.resize(y, 4, mode="linear", coordinate_transformation_mode="half_pixel")
