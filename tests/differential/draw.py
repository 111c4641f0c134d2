"""Random choices for cases: types that a schema allows, shapes, values with what is special among them. All follow from one seed."""
import ml_dtypes
import numpy as np
from onnx import TensorProto, defs, helper

LATEST = defs.onnx_opset_version()
NUMPY = {kind: helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind)) for kind in (
    "FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "BOOL", "STRING", "COMPLEX64", "COMPLEX128",
    "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0", "FLOAT4E2M1", "INT4", "UINT4", "INT2", "UINT2")}
WORDS = ["", "a", "B", "ab", "Zoo", "42", "-1.5", "straße", "日本", "a b", "x,y", "Abc", "tail "]


def schema(op, opset=LATEST, domain=""):
    return defs.get_schema(op, opset, domain)


def type_of(array):
    """The ONNX element type of an array: TensorProto.FLOAT, ..."""
    return TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)


def is_float(dtype):
    return np.dtype(dtype).kind == "f" or "float" in np.dtype(dtype).name


class Draw:
    """One case's source of chance."""

    def __init__(self, *seed):
        self.rng = np.random.default_rng(list(seed))

    # ---- simple choices
    def chance(self, p):
        return self.rng.random() < p

    def one(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def among(self, options):
        return self.one(*options)

    def int(self, low, high):
        """Of [low, high]."""
        return int(self.rng.integers(low, high + 1))

    def ints(self, count, low, high):
        return [self.int(low, high) for _ in range(count)]

    def uniform(self, low, high):
        return float(np.float32(self.rng.uniform(low, high)))

    def maybe(self, p, make):
        return make() if self.chance(p) else None

    def subset(self, items, least=0):
        items = list(items)
        count = self.int(least, len(items)) if len(items) >= least else len(items)
        return [items[i] for i in self.rng.permutation(len(items))[:count]]

    def permutation(self, n):
        return [int(i) for i in self.rng.permutation(n)]

    # ---- ONNX
    def opset(self, op, domain="", least=1, most=LATEST):
        """A version in which the operator exists: each of its forms is as likely, the latest counts twice."""
        since = sorted({s.since_version for s in defs.get_all_schemas_with_history() if s.name == op and s.domain == domain and not s.deprecated})
        ranges = [(v, (since[i + 1] - 1 if i + 1 < len(since) else most)) for i, v in enumerate(since)]
        ranges = [(max(low, least), min(high, most)) for low, high in ranges if high >= least and low <= most]
        low, high = self.among(ranges + ranges[-1:])
        return self.one(low, self.int(low, high), high)

    def kinds(self, op, opset, name="T", domain=""):
        """The numpy types that a type parameter of the operator allows."""
        for constraint in schema(op, opset, domain).type_constraints:
            if constraint.type_param_str == name:
                names = [t[7:-1] for t in constraint.allowed_type_strs if t.startswith("tensor(")]
                return [NUMPY[n.upper()] for n in names if n.upper() in NUMPY]
        raise KeyError(f"{op} has no type parameter {name}")

    def kind(self, op, opset, name="T", domain="", only=None):
        """One of them; float32 is as likely as all others together."""
        kinds = [k for k in self.kinds(op, opset, name, domain) if only is None or only(np.dtype(k))]
        if np.dtype(np.float32) in kinds and self.chance(0.4):
            return np.dtype(np.float32)
        return np.dtype(self.among(kinds))

    def axis(self, rank, above=0):
        """Of [-rank - above, rank + above)."""
        return self.int(-rank - above, rank + above - 1)

    def axes(self, rank, least=0):
        return [a - rank if self.chance(0.4) else a for a in self.subset(range(rank), least)]

    def shape(self, low=0, high=4, most=5, zero=0.04):
        """A shape of rank [low, high] and a few hundred elements at most."""
        rank = self.int(low, high)
        shape = [0 if self.chance(zero) else self.int(1, most) for _ in range(rank)]
        while np.prod(shape) > 600:
            shape[int(np.argmax(shape))] //= 2
        return shape

    def broadcastable(self, shape):
        """A shape that broadcasts to `shape`: leading axes left out, others 1."""
        kept = shape[self.int(0, len(shape)):] if self.chance(0.4) else list(shape)
        return [1 if self.chance(0.25) else extent for extent in kept]

    # ---- values
    def array(self, shape, kind=np.float32, style=None, low=None, high=None):
        """style: grid (multiples of a quarter, sums are exact), plain, wild (with what is special). low, high: bounds (inclusive) of plain values."""
        kind = np.dtype(kind)
        shape = tuple(int(i) for i in shape)
        if kind == object:
            return np.array([self.among(WORDS) for _ in range(int(np.prod(shape)))], object).reshape(shape)
        if kind == bool:
            return np.asarray(self.rng.random(shape) < 0.5)
        if kind.kind == "c":  # finite: numpy multiplies where it only should move
            return np.asarray(self.array(shape, np.float32, "plain") + 1j * self.array(shape, np.float32, "grid")).astype(kind)
        if is_float(kind):
            return self._floats(shape, kind, style or self.one("grid", "plain", "plain", "plain", "wild"), low, high)
        return self._integers(shape, kind, style or self.one("grid", "plain", "plain", "wild"), low, high)

    def _floats(self, shape, kind, style, low, high):
        if low is not None:
            return np.asarray(self.rng.uniform(low, high, shape)).astype(kind)
        if style == "grid":
            return np.asarray(self.rng.integers(-16, 17, shape) / 4).astype(kind)
        values = np.asarray(self.rng.standard_normal(shape) * self.one(0.5, 1, 3))
        if style == "wild":
            info = ml_dtypes.finfo(kind)
            special = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.smallest_subnormal), -float(info.tiny), float(info.max), float(info.min), 1.0, -1.0, 0.5, -0.5, 2.5, -1.5]
            if kind.name == "float8_e8m0fnu":
                special = [np.nan, 1.0, 2.0]
            values = np.where(self.rng.random(shape) < 0.5, values, self.rng.choice(special, shape))
        with np.errstate(all="ignore"):
            return np.asarray(values).astype(kind)

    def _integers(self, shape, kind, style, low, high):
        info = ml_dtypes.iinfo(kind)
        least, most = int(info.min), int(info.max)
        if style == "wild" and low is None:
            wide = np.int64 if least < 0 else np.uint64
            special = np.array([v for v in (least, least + 1, -1, 0, 1, most - 1, most) if least <= v], wide)
            return np.where(self.rng.random(shape) < 0.3, self.rng.integers(least, most, shape, wide, endpoint=True), self.rng.choice(special, shape)).astype(kind)
        low = max(least, -10) if low is None else max(least, low)
        high = min(most, 10) if high is None else min(most, high)
        return np.asarray(self.rng.integers(low, high + 1, shape)).astype(kind)
