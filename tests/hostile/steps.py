"""What random graphs are made of: each function adds one node, or the few that belong together, and says what becomes of errors."""
import math

import numpy as np
from onnx import helper

from grow import FLOATS, INTEGERS, MIXED, Unfit, Value, step

NP_TYPES = (np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_)


def type_of(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def floats(v):
    return v.is_float


def integers(v):
    return v.array.dtype in INTEGERS


def clear_of(value, jumps):
    """Refuses values within four errors, and a thousandth, of a jump. `jumps`: the distance of each element to the nearest."""
    if value.array.size and not (np.abs(jumps) > 4 * value.error + 1e-3).all():
        raise Unfit


# ---- elementwise --------------------------------------------------------------------------------------------------------------------

SLOPES = {"Relu": 1, "Tanh": 1, "Sigmoid": 0.25, "Abs": 1, "Neg": 1, "Erf": 1.13, "Softsign": 1, "LeakyRelu": 1, "Elu": 1, "HardSwish": 1.5, "HardSigmoid": 0.2, "Sin": 1, "Cos": 1, "Softplus": 1,
          "Gelu": 1.13, "Mish": 1.1, "Selu": 1.76, "Identity": 1, "ThresholdedRelu": None, "Atan": 1, "Asinh": 1, "Celu": 1}


@step(6)
def unary(g):
    x, op = g.value(floats), g.among(sorted(SLOPES))
    if op == "ThresholdedRelu":
        clear_of(x, x.array - 0.7)
        return g.add(op, [x], {"alpha": 0.7}, x.error)
    attributes = {"LeakyRelu": {"alpha": 0.1}, "Elu": {"alpha": 0.8}, "HardSigmoid": {"alpha": 0.2}}.get(op)
    g.add(op, [x], attributes, SLOPES[op] * x.error, rounds=op not in ("Relu", "Abs", "Neg", "Identity"))


@step(2)
def steep(g):
    x = g.value(floats)
    one = g.constant(np.asarray(1, x.array.dtype))
    op = g.among(("Exp", "Sqrt", "Log", "Reciprocal", "Square", "Cube"))
    if op == "Exp":
        return g.add("Exp", [x], None, lambda y: math.expm1(x.error) * y.size)
    if op in ("Square", "Cube"):
        power = 2 if op == "Square" else 3
        return g.add("Pow", [x, g.constant(np.asarray(power, g.among((x.array.dtype, np.float32))))], None, power * (x.size + x.error) ** (power - 1) * x.error)
    t = g.add("Add", [g.add("Abs", [x], None, x.error, rounds=False), one], None, x.error)  # 1 at least
    g.add(op, [t], None, t.error)


@step(2)
def clip(g):
    x = g.value(lambda v: v.is_float or integers(v))
    low, high = sorted(g.fresh((2,), x.array.dtype).tolist())
    g.add("Clip", [x, g.constant(np.asarray(low, x.array.dtype)), g.constant(np.asarray(high, x.array.dtype)) if g.chance(0.8) else None], None, x.error, rounds=False)


@step(2)
def jump(g):
    x, op = g.value(floats), g.among(("Floor", "Ceil", "Round", "Sign"))
    a = x.array.astype(np.float64)
    clear_of(x, {"Floor": a - np.round(a), "Ceil": a - np.round(a), "Round": np.abs(a - np.floor(a)) - 0.5, "Sign": a}[op])
    g.add(op, [x], rounds=False)


@step(2)
def unary_integer(g):
    x = g.value(lambda v: not v.is_float)
    op = "Not" if x.array.dtype == bool else g.among(("Abs", "Neg", "Sign", "BitwiseNot", "Identity"))
    g.add(op, [x])


def fits(a, b):
    try:
        return math.prod(np.broadcast_shapes(a.shape, b.shape)) <= 4096
    except ValueError:
        return False


def partner(g, x):
    """Another operand that broadcasts with x: a value, or a weight of some shape that does."""
    if g.chance(0.5):
        return g.value(lambda v: v.array.dtype == x.array.dtype and fits(v, x))
    shape = list(x.shape[g.between(0, x.array.ndim):])
    shape = [1 if g.chance(0.3) else e for e in shape]
    return g.operand(shape, x.array.dtype)


@step(6)
def binary(g):
    x = g.value(floats)
    y, op = partner(g, x), g.among(("Add", "Sub", "Mul", "Div", "Max", "Min", "Add", "Mul", "Mean", "Sum"))
    if op == "Div":
        if y.least - y.error < 0.05:
            raise Unfit
        floor = y.least - y.error
        return g.add(op, [x, y], None, x.error / floor + x.size * y.error / floor ** 2)
    if op == "Mul":
        return g.add(op, [x, y], None, x.error * (y.size + y.error) + y.error * x.size)
    if g.chance(0.5):
        x, y = y, x
    g.add(op, [x, y], None, max(x.error, y.error) if op in ("Max", "Min", "Mean") else x.error + y.error, rounds=op not in ("Max", "Min"))


@step(3)
def binary_integer(g):
    x = g.value(integers)
    y, op = partner(g, x), g.among(("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor"))
    if op in ("Div", "Mod"):
        y = g.constant(np.maximum(np.abs(g.fresh(y.shape, y.array.dtype).astype(np.int64)), 1).astype(x.array.dtype))
    g.add(op, [x, y])


@step(2)
def compare(g):
    x, op = g.value(lambda v: v.array.dtype != bool), g.among(("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"))
    if not x.is_float:
        return g.add(op, [x, partner(g, x)])
    if op == "Equal":
        raise Unfit
    ordered = np.unique(x.array.astype(np.float64))
    if ordered.size < 2:
        raise Unfit
    gap = int(np.argmax(np.diff(ordered)))  # the widest: results do not hang on rounding
    threshold = np.asarray((ordered[gap] + ordered[gap + 1]) / 2, x.array.dtype)
    clear_of(x, x.array - threshold)
    g.add(op, [x, g.constant(threshold)])


@step(2)
def logic(g):
    x = g.value(lambda v: v.array.dtype == bool)
    g.add(g.among(("And", "Or", "Xor", "Equal")), [x, partner(g, x)])


@step(3)
def where(g):
    c = g.value(lambda v: v.array.dtype == bool)
    x = g.value(lambda v: v.array.dtype != bool and fits(v, c))
    y = partner(g, x)
    if not fits(Value("", np.broadcast_to(x.array, np.broadcast_shapes(x.shape, y.shape))), c):
        raise Unfit
    g.add("Where", [c, x, y] if g.chance(0.5) else [c, y, x], None, max(x.error, y.error), rounds=False)


@step(3)
def cast(g):
    x, to = g.value(), np.dtype(g.among(NP_TYPES))
    a = x.array.astype(np.float64)
    if x.is_float and to in INTEGERS:
        if a.size and (x.size > 1e6 or to == np.uint8 and (a.min() < 0 or a.max() > 250)):
            raise Unfit
        if x.error:
            clear_of(x, np.where(np.abs(a) < 0.5, 1, a - np.round(a)))
    if x.is_float and to == bool and x.error:
        clear_of(x, a)
    if to == np.uint8 and a.size and (a.min() < 0 or a.max() > 255):
        raise Unfit
    narrower = x.array.dtype == np.float64 and to == np.float32
    g.add("Cast", [x], {"to": type_of(to)}, x.error, rounds=narrower)


# ---- shapes -------------------------------------------------------------------------------------------------------------------------


def moved(g, op, x, others=(), attributes=None, **options):
    return g.add(op, [x, *others], attributes, max([x.error, *(v.error for v in others if v is not None)]), rounds=False, **options)


@step(2)
def transpose(g):
    x = g.value(lambda v: v.array.ndim > 1)
    moved(g, "Transpose", x, (), {"perm": [int(i) for i in g.random.permutation(x.array.ndim)]})


def factors(g, count):
    """A shape with that many elements."""
    shape = []
    while count > 1 and len(shape) < 3:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        shape.append(g.among(divisors))
        count //= shape[-1]
    return shape + [count]


@step(3)
def reshape(g):
    x = g.value(lambda v: v.array.size)
    kind = g.among(("constant", "keep", "flatten", "plumbing"))
    if kind == "flatten":
        return moved(g, "Flatten", x, (), {"axis": g.between(0, x.array.ndim)})
    if kind == "constant":
        shape = factors(g, x.array.size)
        shape[g.between(0, len(shape) - 1)] = -1
        return moved(g, "Reshape", x, [g.ints(shape)])
    if x.array.ndim < 2:
        raise Unfit
    if kind == "keep":
        return moved(g, "Reshape", x, [g.ints([0, -1] if g.chance(0.5) else [0] * x.array.ndim)])
    shape = g.add("Shape", [x], {"start": 0, "end": g.between(1, x.array.ndim)} if g.chance(0.4) else None)
    first = g.add("Gather", [shape, g.ints([0])], {"axis": 0})
    moved(g, "Reshape", x, [g.add("Concat", [first, g.ints([-1])], {"axis": 0})])


@step(2)
def squeeze(g):
    x = g.value()
    ones = [i for i, e in enumerate(x.shape) if e == 1]
    if ones and g.chance(0.5):
        return moved(g, "Squeeze", x, [g.ints([g.among(ones)])] if g.chance(0.8) else [])
    moved(g, "Unsqueeze", x, [g.ints([g.between(-x.array.ndim - 1, x.array.ndim)])])


@step(2)
def expand(g):
    x = g.value(lambda v: v.array.size < 200)
    shape = [g.between(2, 4) if e == 1 and g.chance(0.7) else g.among((1, e)) for e in x.shape]
    moved(g, "Expand", x, [g.ints(([g.between(1, 3)] if g.chance(0.4) else []) + shape)])


@step(3)
def slice_(g):
    x = g.value(lambda v: v.array.ndim and v.array.size > 1)
    axis = g.between(0, x.array.ndim - 1)
    e, by = x.shape[axis], g.among((1, 1, 2, -1))
    start, end = sorted((g.between(0, e), g.between(0, e)))
    if by < 0:
        start, end = end - 1, (start - 1 if start else -(2 ** 31))
    moved(g, "Slice", x, [g.ints([start]), g.ints([end]), g.ints([axis]), g.ints([by])])


@step(3)
def gather(g):
    x = g.value(lambda v: v.array.ndim and v.array.size)
    axis = g.between(0, x.array.ndim - 1)
    shape = g.among(([], [2], [3], [2, 2]))
    indices = np.asarray(g.random.integers(-x.shape[axis], x.shape[axis], shape), g.among((np.int64, np.int32)))
    moved(g, "Gather", x, [g.constant(indices)], {"axis": axis})


@step(1)
def gather_elements(g):
    x = g.value(lambda v: v.array.ndim and v.array.size)
    axis = g.between(0, x.array.ndim - 1)
    indices = g.random.integers(0, x.shape[axis], [e if g.chance(0.6) else g.between(1, e) for e in x.shape]).astype(np.int64)
    op = g.among(("GatherElements", "ScatterElements"))
    if op == "GatherElements":
        return moved(g, op, x, [g.constant(indices)], {"axis": axis})
    order = np.argsort(g.random.random(x.shape), axis).astype(np.int64)[tuple(slice(0, n) for n in indices.shape)]  # each place once
    y = g.operand(indices.shape, x.array.dtype)
    moved(g, op, x, [g.constant(order), y], {"axis": axis})


@step(1)
def gather_nd(g):
    x = g.value(lambda v: v.array.ndim > 1 and v.array.size)
    depth, count = g.between(1, x.array.ndim), g.between(1, 4)
    indices = np.stack([g.random.integers(0, e, count) for e in x.shape[:depth]], -1).astype(np.int64)
    moved(g, "GatherND", x, [g.constant(indices)])


@step(3)
def concat(g):
    x = g.value(lambda v: v.array.ndim)
    axis = g.between(0, x.array.ndim - 1)
    like = [v for v in g.values if v.array.dtype == x.array.dtype and v.array.ndim == x.array.ndim and all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)]
    parts = [x] + [g.among(like) for _ in range(g.between(1, 2))]
    if g.chance(0.3):
        parts.append(g.constant(g.fresh([2 if i == axis else e for i, e in enumerate(x.shape)], x.array.dtype)))
    moved(g, "Concat", x, parts[1:], {"axis": axis if g.chance(0.7) else axis - x.array.ndim})


@step(2)
def split(g):
    x = g.value(lambda v: v.array.ndim and max(v.shape) > 1)
    axis = g.among([i for i, e in enumerate(x.shape) if e > 1])
    first = g.between(1, x.shape[axis] - 1)
    if g.chance(0.3):
        return moved(g, "Split", x, (), {"axis": axis, "num_outputs": 2}, outputs=2)
    moved(g, "Split", x, [g.ints([first, x.shape[axis] - first])], {"axis": axis}, outputs=2)


@step(2)
def pad(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype != bool)
    mode = g.among(("constant", "edge", "reflect"))
    pads = [g.between(0, min(2, e - 1)) if g.chance(0.5) else 0 for e in (*x.shape, *x.shape)]
    value = [g.constant(np.asarray(1, x.array.dtype))] if mode == "constant" and g.chance(0.6) else []
    moved(g, "Pad", x, [g.ints(pads), *value], {"mode": mode})


@step(1)
def tile(g):
    x = g.value(lambda v: v.array.ndim and v.array.size < 300)
    moved(g, "Tile", x, [g.ints([g.between(1, 2) for _ in x.shape])])


@step(1)
def filled(g):
    x = g.value()
    shape = g.add("Shape", [x])
    if g.chance(0.3):
        return g.add("Size", [x])
    g.add("ConstantOfShape", [shape], {"value": helper.make_tensor("", 1, [1], [0.5])}, rounds=False)


@step(1)
def triangle(g):
    x = g.value(lambda v: v.array.ndim > 1)
    moved(g, "Trilu", x, [g.ints(g.between(-2, 2))] if g.chance(0.6) else [], {"upper": g.between(0, 1)})


@step(1)
def blocks(g):
    x = g.value(lambda v: v.array.ndim == 4 and v.is_float)
    if x.shape[1] % 4 == 0 and g.chance(0.5):
        return moved(g, "DepthToSpace", x, (), {"blocksize": 2, "mode": g.among(("DCR", "CRD"))})
    if x.shape[2] % 2 or x.shape[3] % 2:
        raise Unfit
    moved(g, "SpaceToDepth", x, (), {"blocksize": 2})


@step(1)
def non_zero(g):
    x = g.value(lambda v: v.array.dtype == bool or integers(v))
    if not x.array.size or x.array.ndim == 0:
        raise Unfit
    g.add("NonZero", [x])


@step(1)
def one_hot(g):
    x = g.value(lambda v: v.array.dtype == np.int64 and v.array.size and v.array.min() >= -5 and v.array.max() < 5 and v.array.size < 200)
    g.add("OneHot", [x, g.ints(5), g.constant(np.asarray([0.25, 2], np.float32))], {"axis": g.among((0, -1))}, rounds=False)


@step(1)
def resize(g):
    x = g.value(lambda v: v.array.ndim == 4 and v.array.dtype == np.float32 and v.array.size < 800)
    if g.chance(0.5):
        return moved(g, "Resize", x, [None, g.constant(np.asarray([1, 1, 2, 2], np.float32))], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})
    g.add("Resize", [x, None, g.constant(np.asarray([1, 1, 2, 2], np.float32))], {"mode": "linear"}, 2 * x.error)


# ---- reductions ---------------------------------------------------------------------------------------------------------------------


def axes_of(g, x):
    return sorted(int(i) for i in g.random.choice(x.array.ndim, g.between(1, x.array.ndim), replace=False))


@step(4)
def reduce(g):
    x = g.value(lambda v: v.array.ndim and v.array.size)
    axes = axes_of(g, x)
    count = math.prod(x.shape[a] for a in axes)
    attributes = {"keepdims": g.between(0, 1)}
    if x.array.dtype == bool:
        raise Unfit
    op = g.among(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp") if x.is_float else ("ReduceSum", "ReduceMax", "ReduceMin"))
    if not x.is_float:
        return g.add(op, [x, g.ints(axes)], attributes)
    rounding = MIXED[x.array.dtype] * count * x.size  # where terms cancel, the sum is small and its error is not
    grows = {"ReduceSum": count * x.error + rounding, "ReduceMean": x.error + rounding / count, "ReduceMax": x.error, "ReduceMin": x.error, "ReduceL1": count * x.error,
             "ReduceL2": math.sqrt(count) * x.error, "ReduceSumSquare": 2 * count * (x.size + x.error) * x.error, "ReduceLogSumExp": x.error}[op]
    g.add(op, [x, g.ints([a - x.array.ndim if g.chance(0.3) else a for a in axes])], attributes, grows, rounds=op not in ("ReduceMax", "ReduceMin"))


def gaps(array, axis):
    """The least distance of neighbours along the axis, when it is in order."""
    return np.diff(np.sort(array.astype(np.float64), axis), axis=axis)


@step(1)
def arg(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype != bool)
    axis = g.between(0, x.array.ndim - 1)
    if x.is_float:
        clear_of(x, gaps(x.array, axis))
    g.add(g.among(("ArgMax", "ArgMin")), [x], {"axis": axis, "keepdims": g.between(0, 1), "select_last_index": g.between(0, 1)})


@step(1)
def top_k(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype in (*FLOATS, np.dtype(np.int64)))
    axis = g.between(0, x.array.ndim - 1)
    if x.is_float:
        clear_of(x, gaps(x.array, axis))
    moved(g, "TopK", x, [g.ints([g.between(1, x.shape[axis])])], {"axis": axis, "largest": g.between(0, 1)}, outputs=2)


@step(2)
def softmax(g):
    x = g.value(lambda v: v.is_float and v.array.ndim and v.array.size)
    g.add(g.among(("Softmax", "LogSoftmax")), [x], {"axis": g.between(-x.array.ndim, x.array.ndim - 1)}, 2 * x.error)


@step(1)
def cumulative(g):
    x = g.value(lambda v: v.array.ndim and v.array.size and v.array.dtype in (*FLOATS, np.dtype(np.int64), np.dtype(np.int32)))
    axis = g.between(0, x.array.ndim - 1)
    n = x.shape[axis]
    g.add("CumSum", [x, g.constant(np.asarray(axis, np.int64))], {"exclusive": g.between(0, 1), "reverse": g.between(0, 1)}, n * x.error + (MIXED[x.array.dtype] * n * x.size if x.is_float else 0))


# ---- products and windows -----------------------------------------------------------------------------------------------------------


def of_products(x, w, k):
    """What k products of a sum make of the errors of both, and their own."""
    return k * (x.error * (w.size + w.error) + w.error * x.size) + MIXED[x.array.dtype] * k * x.size * w.size


@step(4)
def matmul(g):
    x = g.value(lambda v: v.is_float and v.array.ndim and v.array.size)
    k = x.shape[-1]
    if x.array.ndim == 2 and g.chance(0.4):
        n, across = g.between(1, 20), g.between(0, 1)
        w, b = g.operand((n, k) if across else (k, n), x.array.dtype), g.operand(g.among(([n], [1, n], [])), x.array.dtype)
        return g.add("Gemm", [x, w, b], {"transB": across, "alpha": 0.5, "beta": 2.0}, lambda y: of_products(x, w, k) + 1e-5 * b.size)
    others = [v for v in g.values if v.array.dtype == x.array.dtype and v.array.ndim >= 2 and v.shape[-2] == k]
    w = g.among(others) if others and g.chance(0.5) else g.operand((k, g.between(1, 20)), x.array.dtype)
    g.add("MatMul", [x, w], None, of_products(x, w, k))


@step(4)
def conv(g):
    x = g.value(lambda v: v.is_float and v.array.ndim in (3, 4) and v.array.size and v.shape[1] <= 16)
    rank, c = x.array.ndim - 2, x.shape[1]
    kernel = [g.among([k for k in (1, 2, 3, 5) if k <= e + 2]) for e in x.shape[2:]]
    group = g.among([d for d in (1, 1, c) if c % d == 0])
    m = group * g.between(1, 8 if group == 1 else 2)
    attributes = {"group": group, "strides": [g.among((1, 1, 2)) for _ in range(rank)], "dilations": [g.among((1, 1, 1, 2)) for _ in range(rank)]}
    attributes.update({"auto_pad": g.among(("SAME_UPPER", "SAME_LOWER", "VALID"))} if g.chance(0.2) else {"pads": [g.between(0, min(1, k - 1)) for k in kernel * 2]})
    inputs = [x, g.operand((m, c // group, *kernel), x.array.dtype)]
    count = c // group * math.prod(kernel)
    w = inputs[1]
    if g.chance(0.6):
        inputs.append(g.operand((m,), x.array.dtype))
    g.add("Conv", inputs, attributes, of_products(x, w, count))


@step(1)
def conv_transpose(g):
    x = g.value(lambda v: v.array.dtype == np.float32 and v.array.ndim == 4 and v.array.size and v.array.size < 600 and v.shape[1] <= 8)
    w = g.operand((x.shape[1], g.between(1, 4), g.between(1, 3), g.between(1, 3)), np.float32)
    g.add("ConvTranspose", [x, w], {"strides": [g.between(1, 2)] * 2}, of_products(x, w, x.shape[1] * 9))


@step(3)
def pool(g):
    x = g.value(lambda v: v.is_float and v.array.ndim in (3, 4) and v.array.size)
    kernel = [g.between(1, min(3, e)) for e in x.shape[2:]]
    op = g.among(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool"))
    attributes = {"kernel_shape": kernel, "strides": [g.between(1, 2) for _ in kernel], "pads": [g.between(0, min(1, k - 1)) for k in kernel * 2], "ceil_mode": 0}
    if op == "AveragePool":
        attributes["count_include_pad"] = g.between(0, 1)
    g.add(op, [x], None if op.startswith("Global") else attributes, (9 if op == "LpPool" else 1) * x.error, rounds="Max" not in op)


@step(2)
def normalise(g):
    x = g.value(lambda v: v.is_float and v.array.ndim >= 3 and v.array.size > 8)
    c, dtype = x.shape[1], x.array.dtype
    op = g.among(("BatchNormalization", "InstanceNormalization", "LayerNormalization"))
    if op == "BatchNormalization":
        scale, variance = g.constant(g.fresh((c,), dtype)), g.constant(np.abs(g.fresh((c,), dtype)) + np.asarray(0.5, dtype))
        return g.add(op, [x, scale, g.constant(g.fresh((c,), dtype)), g.constant(g.fresh((c,), dtype)), variance], None, lambda y: scale.size * 1.5 * (x.error + 2e-5 * (x.size + 3)))
    axes = tuple(range(2, x.array.ndim)) if op == "InstanceNormalization" else (x.array.ndim - 1,)
    spread = float(x.array.astype(np.float64).std(axes).min())
    if spread < 0.05:
        raise Unfit
    shape = (c,) if op == "InstanceNormalization" else x.shape[-1:]
    scale, bias = g.constant(g.fresh(shape, dtype)), g.constant(g.fresh(shape, dtype))
    grows = 4 * scale.size * (x.error + 2e-5 * x.size) / spread
    g.add(op, [x, scale, bias], {"epsilon": 1e-3, **({"axis": -1} if op == "LayerNormalization" else {})}, grows)


# ---- control flow -------------------------------------------------------------------------------------------------------------------


def small_chain(g, name, x, prefix):
    """Two or three nodes on a float value, for a body: nodes, the result's name."""
    nodes, last = [], name
    for k in range(g.between(1, 3)):
        op = g.among(("Tanh", "Relu", "Neg", "Sigmoid", "Abs"))
        nodes.append(helper.make_node(op, [last], [f"{prefix}{k}"]))
        last = f"{prefix}{k}"
    return nodes, last


@step(1)
def if_(g):
    x = g.value(lambda v: v.is_float)
    flag = g.among([v for v in g.values if v.array.dtype == bool and v.array.shape == ()] + [None])
    if flag is None:
        flag = Value(f"in{len(g.inputs)}", np.asarray(g.chance(0.5)))
        g.inputs.append(flag)
        g.values.append(flag)
    n = len(g.nodes)
    branches = {}
    for branch in ("then_branch", "else_branch"):
        nodes, last = small_chain(g, x.name, x, f"b{n}_{branch[0]}")
        if g.chance(0.3):
            other = g.value(lambda v: v.array.dtype == x.array.dtype and v.shape == x.shape)
            nodes.append(helper.make_node("Add", [last, x.name], [f"b{n}_{branch[0]}s"]))
            last = f"b{n}_{branch[0]}s"
        branches[branch] = helper.make_graph(nodes, branch, [], [helper.make_tensor_value_info(last, type_of(x.array.dtype), [None] * x.array.ndim)])
    g.add("If", [flag], branches, 2 * x.error + 4e-5 * (1 + x.size), captured=[x])


@step(1)
def loop(g):
    x = g.value(lambda v: v.is_float and v.array.size < 300)
    trips, n = g.between(1, 4), len(g.nodes)
    nodes, last = small_chain(g, f"l{n}_in", x, f"l{n}_")
    nodes += [helper.make_node("Add", [last, x.name], [f"l{n}_out"]), helper.make_node("Identity", [f"l{n}_go"], [f"l{n}_go_on"]), helper.make_node("Identity", [last], [f"l{n}_scan"])]
    kind = type_of(x.array.dtype)
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"l{n}_i", 7, []), helper.make_tensor_value_info(f"l{n}_go", 9, []), helper.make_tensor_value_info(f"l{n}_in", kind, [None] * x.array.ndim)],
                             [helper.make_tensor_value_info(f"l{n}_go_on", 9, []), helper.make_tensor_value_info(f"l{n}_out", kind, [None] * x.array.ndim), helper.make_tensor_value_info(f"l{n}_scan", kind, [None] * x.array.ndim)])
    count = g.constant(np.asarray(trips, np.int64))
    bound = (trips + 1) * (x.error + 4e-5 * (1 + (trips + 1) * x.size))
    g.add("Loop", [count, None, x], {"body": body}, bound, outputs=2, captured=[x])


@step(1)
def scan(g):
    x = g.value(lambda v: v.array.dtype == np.float32 and v.array.ndim >= 2 and v.array.size)
    n, rest = len(g.nodes), list(x.shape[1:])
    nodes = [helper.make_node("Add", [f"s{n}_state", f"s{n}_x"], [f"s{n}_sum"]), helper.make_node("Tanh", [f"s{n}_sum"], [f"s{n}_y"])]
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"s{n}_state", 1, [None] * len(rest)), helper.make_tensor_value_info(f"s{n}_x", 1, [None] * len(rest))],
                             [helper.make_tensor_value_info(f"s{n}_sum", 1, [None] * len(rest)), helper.make_tensor_value_info(f"s{n}_y", 1, [None] * len(rest))])
    state = g.constant(g.fresh(rest, np.float32))
    g.add("Scan", [state, x], {"body": body, "num_scan_inputs": 1}, (x.shape[0] + 1) * (x.error + 2e-5 * x.size * x.shape[0]), outputs=2)
