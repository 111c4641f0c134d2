"""Every operator that computes on f64 does so in f64: against onnx.reference, or numpy where that computes in less, to 13 digits of the largest value.

A row is an operator's name, its inputs and attributes. An operator of ONNX that takes f64 has a row, or is in MOVED, as it computes nothing, or in ELSEWHERE.
"""
import numpy as np
from onnx import TensorProto as T
from onnx import defs, helper
from onnx.reference import ReferenceEvaluator

from harness import Check

D = np.float64
rng = np.random.default_rng(64)
normal = lambda *shape: rng.standard_normal(shape)
positive = lambda *shape: rng.uniform(0.1, 3, shape)
unit = lambda *shape: rng.uniform(-0.95, 0.95, shape)
i64 = lambda *values: np.array(values, np.int64)
COVERED = set()


def row(op, inputs, attributes=None, *, outputs=1, expect=None, constants=(), opset=24, name="", domain="", out_types=None, largest=1e-13):
    COVERED.add(f"{domain}.{op}" if domain else op)
    check = Check(f"f64 {op}{' ' * bool(name)}{name}", op, inputs, attributes, outputs=outputs, constants=constants, opset=opset, domain=domain, rtol=0,
                  out_types=out_types or {k: T.DOUBLE for k in range(outputs)})
    check.expect = expect if expect is not None else ReferenceEvaluator(check.model()).run(None, check.feeds())
    assert all(np.asarray(y).dtype == D for k, y in enumerate(check.expect) if (out_types or {}).get(k, T.DOUBLE) == T.DOUBLE), f"{op} has no oracle in f64"
    check.atol = largest * max(np.abs(y[np.isfinite(y)]).max(initial=0) for y in map(np.asarray, check.expect) if y.dtype == D)


erf = np.vectorize(__import__("math").erf)
x = normal(3, 7)

# ---- elementwise
for op in ("Abs Neg Sin Cos Tan Sinh Cosh Tanh Atan Asinh Exp Floor Ceil Round Sign Sigmoid Softplus Softsign Relu Elu Selu HardSigmoid LeakyRelu Mish "
           "ThresholdedRelu Identity Swish").split():
    row(op, [x])
for op in "Log Sqrt Reciprocal".split():
    row(op, [positive(3, 7)])
for op in "Asin Acos Atanh".split():
    row(op, [unit(3, 7)])
row("Acosh", [1 + positive(3, 7)])
row("HardSwish", [x], expect=[x * np.clip(x / 6 + 0.5, 0, 1)])
row("Erf", [x], expect=[erf(x)])
row("Gelu", [x], expect=[0.5 * x * (1 + erf(x / np.sqrt(2)))])
row("Gelu", [x], dict(approximate="tanh"), name="tanh", expect=[0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))])
for op, attributes in (("Elu", dict(alpha=0.3)), ("LeakyRelu", dict(alpha=0.1)), ("Selu", dict(alpha=1.3, gamma=0.9)), ("HardSigmoid", dict(alpha=0.3, beta=0.4)),
                       ("ThresholdedRelu", dict(alpha=0.3)), ("Shrink", dict(lambd=0.2, bias=0.1)), ("Swish", dict(alpha=0.7))):
    row(op, [x], attributes, name="attributes")
for op in "Add Sub Mul Div Max Min Mean Sum PRelu".split():
    row(op, [x, normal(3, 7)])
row("Pow", [positive(3, 7), normal(7)])
row("Mod", [x, positive(3, 7)], dict(fmod=1))
row("Clip", [x, np.array(-0.3), np.array(0.7)])
row("Where", [x > 0, x, normal(3, 7)])
other = normal(3, 7)
for alpha in (1.0, 0.7):
    row("Celu", [x], dict(alpha=alpha), opset=28, name=f"alpha={alpha}", expect=[np.maximum(x, 0) + np.minimum(0, np.float32(alpha).astype(D) * np.expm1(x / np.float32(alpha).astype(D)))])
row("SwiGLU", [x, other], opset=28, expect=[x / (1 + np.exp(-x)) * other])
row("BitCast", [x], dict(to=T.DOUBLE), opset=26)
row("CastLike", [i64(1, 3), normal(1)])
row("Cast", [np.arange(5)], dict(to=T.DOUBLE))

# ---- products
a, b, c = normal(4, 37), normal(37, 5), normal(5)
row("MatMul", [a, b])
row("Gemm", [a, b, c], dict(alpha=0.3, beta=0.7), expect=[np.float32(0.3).astype(D) * (a @ b) + np.float32(0.7).astype(D) * c])
row("Einsum", [a, b], dict(equation="ij,jk->ki"))
row("Det", [normal(2, 4, 4)])
image, weights, bias = normal(2, 4, 7, 6), normal(6, 2, 3, 3), normal(6)
row("Conv", [image, weights, bias], dict(group=2, pads=[1, 1, 1, 1], strides=[2, 1]))
row("ConvTranspose", [image, normal(4, 3, 3, 3), normal(3)], dict(strides=[2, 1], pads=[1, 0, 0, 1]))

# ---- reductions and norms
for op in "ReduceSum ReduceMean ReduceProd ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp".split():
    row(op, [normal(3, 4, 5), i64(0, 2)])
row("ReduceLogSum", [positive(3, 4, 5), i64(1)])
for op in ("Softmax", "LogSoftmax", "Hardmax"):
    row(op, [normal(3, 50)])
    row(op, [normal(3, 5, 4)], dict(axis=1), name="in the middle")
row("CumSum", [x, np.array(1)], dict(reverse=1))
row("CumProd", [x, np.array(1)], opset=26, expect=[np.cumprod(x, 1)])
shape = lambda axis: tuple(range(axis, 4))
scale, shift = normal(4), normal(4)


def normalised(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + D(np.float32(epsilon)))


column = lambda v: v.reshape(1, -1, 1, 1)
row("BatchNormalization", [image, scale, shift, normal(4), positive(4)])
row("BatchNormalization", [image, scale, shift, normal(4), positive(4)], dict(epsilon=0.1), name="epsilon")
row("InstanceNormalization", [image, scale, shift], expect=[column(scale) * normalised(image, (2, 3)) + column(shift)])
row("GroupNormalization", [image, scale, shift], dict(num_groups=2), expect=[column(scale) * normalised(image.reshape(2, 2, -1), (2,)).reshape(image.shape) + column(shift)])
wide, gain, offset = normal(3, 9), normal(9), normal(9)
row("LayerNormalization", [wide, gain, offset], expect=[normalised(wide, (1,)) * gain + offset])
row("LayerNormalization", [wide, gain, offset], dict(stash_type=11, epsilon=0.01), name="stash_type", expect=[normalised(wide, (1,), 0.01) * gain + offset])
row("RMSNormalization", [wide, gain], expect=[wide / np.sqrt((wide**2).mean(1, keepdims=True) + D(np.float32(1e-5))) * gain])
row("MeanVarianceNormalization", [image], expect=[(image - image.mean((0, 2, 3), keepdims=True)) / (image.std((0, 2, 3), keepdims=True) + 1e-9)])
row("LpNormalization", [wide], dict(p=2))
squares = np.stack([(image[:, max(0, k - 1) : k + 2] ** 2).sum(1) for k in range(4)], 1)
row("LRN", [image], dict(size=3, alpha=0.01, beta=0.6, bias=1.1), expect=[image / (D(np.float32(1.1)) + D(np.float32(0.01)) / 3 * squares) ** D(np.float32(0.6))])
target = np.array([[2, 0, 1], [1, 3, 0]])
scores = normal(2, 4, 3)
logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
picked = np.take_along_axis(logs, target[:, None], 1)[:, 0]
for reduction, value in (("none", -picked), ("mean", -picked.mean()), ("sum", -picked.sum())):
    row("SoftmaxCrossEntropyLoss", [scores, target], dict(reduction=reduction), name=reduction, expect=[np.asarray(value)])
    row("NegativeLogLikelihoodLoss", [logs, target], dict(reduction=reduction), name=reduction, expect=[np.asarray(value)])
class_weights = positive(4)
row("NegativeLogLikelihoodLoss", [logs, target, class_weights], name="weights", expect=[np.asarray(-(picked * class_weights[target]).sum() / class_weights[target].sum())])

# ---- windows
for op, attributes in (("AveragePool", dict(count_include_pad=1)), ("MaxPool", {}), ("LpPool", dict(p=2)), ("LpPool", dict(p=3))):
    row(op, [np.abs(image)], dict(kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], **attributes), name=str(attributes))
for op in ("GlobalAveragePool", "GlobalMaxPool"):
    row(op, [image])
row("GlobalLpPool", [image], expect=[np.sqrt((image**2).sum((2, 3), keepdims=True))])
row("MaxUnpool", [np.array([[[[1.5, 2.25], [3.125, 4.1]]]]), np.array([[[[5, 7], [13, 15]]]])], dict(kernel_shape=[2, 2], strides=[2, 2]))
boxes = np.array([[0.4, 0.7, 4.3, 5.1], [1.2, 0.1, 3.9, 4.4]])
for mode in ("avg", "max"):
    row("RoiAlign", [image, boxes, i64(0, 1)], dict(mode=mode, output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.9), name=mode)
row("Col2Im", [normal(1, 8, 9), i64(4, 4), i64(2, 2)])

# ---- sampling. onnx.reference samples in f32; here a line of pixels, zeros beside it, is read between two of them, or four.
def weights_at(t, cubic):
    if not cubic:
        return [1 - t, t]
    a, far, near = -0.75, lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a, lambda d: ((a + 2) * d - (a + 3)) * d * d + 1
    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def read(line, at, cubic=False, inside=None):
    """`inside` moves the places of pixels beside the line to others."""
    first, taps = int(np.floor(at)), weights_at(at - np.floor(at), cubic)
    places = [first + k - cubic for k in range(len(taps))]
    places = [inside(p) for p in places] if inside else places
    return sum(w * line[p] for p, w in zip(places, taps) if 0 <= p < len(line))


def grid_sampled(image, grid, cubic, inside):
    """With align_corners."""
    n, c, h, w = image.shape
    y = np.empty((n, c, *grid.shape[1:3]))
    for i, j, row_at, column_at in np.ndindex(*y.shape):
        u, v = (grid[i, row_at, column_at] + 1) / 2 * [w - 1, h - 1]
        y[i, j, row_at, column_at] = read([read(line, u, cubic, inside and (lambda p: inside(p, w))) for line in image[i, j]], v, cubic, inside and (lambda p: inside(p, h)))
    return y


def deformed(x, w, offset, mask):
    """Of a filter of one row and one group, [out, channels, 1, taps], stride 1."""
    taps = w.shape[3]
    y = np.zeros((1, w.shape[0], *offset.shape[2:]))
    for r, s, k in np.ndindex(*y.shape[2:], taps):
        v, u = r + offset[0, 2 * k, r, s], s + k + offset[0, 2 * k + 1, r, s]
        y[0, :, r, s] += w[:, :, 0, k] @ [read([read(line, u) for line in plane], v) for plane in x[0]] * mask[0, k, r, s]
    return y


def enlarged(line, out):
    """Along the last axis, with align_corners."""
    n = line.shape[-1]
    return np.apply_along_axis(lambda v: [read(v, i * (n - 1) / (out - 1), True, lambda p: min(max(p, 0), n - 1)) for i in range(out)], -1, line)


factors = np.array([1, 1, 1.7, 0.6], np.float32)
for mode in ("nearest", "linear", "cubic"):
    for transformation in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        if (mode, transformation) == ("cubic", "align_corners"):
            continue
        row("Resize", [normal(1, 2, 5, 7), None, None, i64(1, 2, 8, 4)], dict(mode=mode, coordinate_transformation_mode=transformation), constants=(3,), name=f"{mode} {transformation}")
    if mode != "cubic":
        row("Resize", [normal(1, 2, 5, 7), None, factors], dict(mode=mode), constants=(2,), name=f"{mode} scales")
small = normal(1, 2, 5, 7)
row("Resize", [small, None, None, i64(1, 2, 5, 11)], dict(mode="cubic", coordinate_transformation_mode="align_corners"), constants=(3,), name="cubic align_corners", expect=[enlarged(small, 11)])
row("Resize", [normal(1, 2, 7, 9), None, None, i64(1, 2, 4, 5)], dict(mode="linear", antialias=1), constants=(3,), name="antialias")
row("Upsample", [normal(1, 2, 5, 7), np.array([1, 1, 2, 3], np.float32)], dict(mode="nearest"), opset=9, constants=(1,))
grid = rng.uniform(-1.2, 1.2, (2, 3, 5, 2))
mirrored = lambda p, n: abs(p) % (2 * n - 2) if abs(p) % (2 * n - 2) < n else 2 * n - 2 - abs(p) % (2 * n - 2)
for mode in ("linear", "cubic"):
    for padding, inside in (("zeros", None), ("border", lambda p, n: min(max(p, 0), n - 1)), ("reflection", mirrored)):
        row("GridSample", [image, grid], dict(mode=mode, padding_mode=padding, align_corners=1), name=f"{mode} {padding}", expect=[grid_sampled(image, grid, mode == "cubic", inside)])
deformable = [normal(1, 2, 5, 5), normal(3, 2, 1, 2), normal(1, 4, 5, 4), normal(3), positive(1, 2, 5, 4)]
row("DeformConv", deformable, expect=[deformed(*deformable[:3], deformable[4]) + deformable[3].reshape(1, -1, 1, 1)])
theta, middle = normal(2, 2, 3), lambda n: (2 * np.arange(n) + 1) / n - 1
places = np.stack([*np.meshgrid(middle(4), middle(5)), np.ones((5, 4))], -1)
row("AffineGrid", [theta, i64(2, 3, 5, 4)], constants=(1,), expect=[np.einsum("hwk,njk->nhwj", places, theta)])

# ---- signals
signal = normal(1, 30, 1)
complex_pairs = lambda z: np.stack([z.real, z.imag], -1)
for length in (30, 32, 37):
    row("DFT", [signal, i64(length).reshape(())], dict(), constants=(1,), name=str(length), expect=[complex_pairs(np.fft.fft(signal[..., 0], length))])
spectrum = normal(1, 18, 2)
row("DFT", [spectrum], dict(inverse=1), name="inverse", expect=[complex_pairs(np.fft.ifft(spectrum[..., 0] + 1j * spectrum[..., 1]))])
frames = np.stack([signal[0, f : f + 8, 0] for f in range(0, 23, 4)])
window = positive(8)
row("STFT", [signal, np.array(4), window], constants=(1,), expect=[complex_pairs(np.fft.rfft(frames * window))[None]])
n, tau = np.arange(12), 2 * np.pi
for op, a0, a1, a2 in (("HannWindow", 0.5, 0.5, 0), ("HammingWindow", 25 / 46, 21 / 46, 0), ("BlackmanWindow", 0.42, 0.5, 0.08)):
    for periodic in (0, 1):
        angle = tau * n / (11 + periodic)
        for constants in ((), (0,)):
            row(op, [np.array(12)], dict(output_datatype=T.DOUBLE, periodic=periodic), constants=constants, name=f"{periodic} {constants}", expect=[a0 - a1 * np.cos(angle) + a2 * np.cos(2 * angle)])

# ---- recurrent layers
for op, gates, extra in (("RNN", 1, {}), ("GRU", 3, {}), ("GRU", 3, dict(linear_before_reset=1)), ("LSTM", 4, {})):
    state = [normal(1, 3, 5)] * (2 if op == "LSTM" else 1)
    row(op, [normal(4, 3, 2), normal(1, gates * 5, 2), normal(1, gates * 5, 5), normal(1, 2 * gates * 5), None, *state], dict(hidden_size=5, **extra), outputs=1 + len(state), name=str(extra))

# ---- attention
q, k, v = normal(2, 3, 4, 6), normal(2, 3, 5, 6), normal(2, 3, 5, 8)


def attended(scale=None, softcap=0, causal=False, added=0):
    scores = q @ k.transpose(0, 1, 3, 2) * (1 / np.sqrt(6) if scale is None else D(np.float32(scale)))
    scores = softcap * np.tanh(scores / softcap) if softcap else scores
    scores = scores + added
    if causal:
        scores = np.where(np.arange(5)[None] <= np.arange(4)[:, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return [weights / weights.sum(-1, keepdims=True) @ v]


mask = normal(4, 5)
row("Attention", [q, k, v], expect=attended())
row("Attention", [q, k, v], dict(is_causal=1), name="causal", expect=attended(causal=True))
row("Attention", [q, k, v], dict(is_causal=1, scale=0.3), name="scale", expect=attended(0.3, causal=True))
row("Attention", [q, k, v, mask], dict(softcap=2.0), name="softcap", expect=attended(softcap=2.0, added=mask))
row("Attention", [q, k, v, mask], name="mask", expect=attended(added=mask))
row("Attention", [q, k, v, mask > 0], name="seen", expect=attended(added=np.where(mask > 0, 0, -np.inf)))
row("Attention", [q, k, v], dict(softmax_precision=T.DOUBLE), name="precision", expect=attended())

MOVED = """ArrayFeatureExtractor ArgMax ArgMin Binarizer CenterCropPad Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace DictVectorizer Dropout Equal
Expand EyeLike FeatureVectorizer Flatten Gather GatherElements GatherND Greater GreaterOrEqual If Imputer IsInf IsNaN LabelEncoder Less LessOrEqual Loop MaxRoiPool NonZero OneHot
OneHotEncoder Optional OptionalGetElement OptionalHasElement Pad Reshape ReverseSequence Scan Scatter ScatterElements ScatterND SequenceAt SequenceConstruct SequenceInsert SequenceMap
Shape Size Slice SpaceToDepth Split SplitToSequence Squeeze TensorScatter Tile TopK Transpose Trilu Unique Unsqueeze""".split()
# Random numbers; tests/contrib/check_training.py, check_signal.py; classical models, whose results are f32 but for TreeEnsemble (tests/ml).
ELSEWHERE = """Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike Adagrad Adam Gradient Momentum MelWeightMatrix LinearClassifier LinearRegressor
Normalizer SVMClassifier SVMRegressor Scaler TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor""".split()
takes_f64 = {s.name for s in defs.get_all_schemas() if s.domain != "ai.onnx.preview" and any("tensor(double)" in p.types for p in [*s.inputs, *s.outputs])}
takes_f64 -= {"Range"}  # tests/contrib/check_run_time.py
assert not (missing := takes_f64 - COVERED - {*MOVED, *ELSEWHERE}), f"no row for {sorted(missing)}"
