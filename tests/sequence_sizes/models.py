"""Models with open dimensions: which there are, sizes for these, and inputs of these sizes."""
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / "bench")]
from kinds import KINDS  # noqa: E402

# Around the lengths of vectors and blocks, one, and a prime. Caches are empty, too.
EDGES = [1, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65]
BATCHES = [1, 3, 2, 3]
COUNT = 20

# What no file tells: the least extents with which a model means something, and values of scalars beside those of its data. Norms of two samples magnify what sums in another order
# differ by; a window of two samples does not fit into one, for which ONNX Runtime gives a result against the specification's formula.
LEAST = {"silero_vad": {"input.1": 192}, "conv_tasnet": {"length": 24}, "human_activity": {"length": 4}}
SCALARS = {"silero_vad": {"sr": [8000, 16000]}}

# Networks of bench/ whose layers take any length. Their last axis and their batch are opened.
SIGNALS = ["quartznet", "ecg_resnet", "signal_cnn", "wavenet", "inception_time", "conv_tasnet", "human_activity", "hifigan", "vits_flow"]


class Case:
    """A model, the dimensions that are open, and values that its inputs may have."""

    def __init__(self, name, model, data, tolerance, path=None):
        """`data`: for each input some arrays as users have them."""
        self.name, self.model, self.data, self.tolerance, self.path = name, model, data, tolerance, path
        weights = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in weights]
        self.dims = {value.name: [dimension(d, value.name, axis) for axis, d in enumerate(value.type.tensor_type.shape.dim)] for value in inputs}
        of_mask = {d for name, dims in self.dims.items() if "mask" in name for d in dims}
        others = {d for name, dims in self.dims.items() if "mask" not in name for d in dims}
        self.total = next((d for d in of_mask - others if isinstance(d, str)), None)  # as many as in the cache and new ones
        self.open = sorted({d for d in of_mask | others if isinstance(d, str)} - {self.total})
        self.has_state = "past" in self.open or "state" in self.dims
        for scalar, more in SCALARS.get(name, {}).items():
            data[scalar] = [np.array(value, data[scalar][0].dtype) for value in more]

    def least(self, dimension):
        return LEAST.get(self.name, {}).get(dimension, 1)

    def source(self):
        """What both engines take. External data lie beside the file."""
        return self.path or self.model.SerializeToString()

    def sizes(self, random):
        """Endlessly, extents by the name of the dimension: the edges first, each dimension in an order of its own."""
        edges = {name: self._edges(name, random) for name in self.open}
        for k in range(10**6):
            drawn = {name: int(values[k] if k < len(values) else random.integers(1, 100)) + self.least(name) - 1 for name, values in edges.items()}
            if "batch" in drawn and len(drawn) > 1:
                drawn["batch"] = BATCHES[k % len(BATCHES)]
            yield drawn

    def _edges(self, name, random):
        return list(random.permutation([0, 0, *EDGES] if name == "past" else EDGES))

    def feeds(self, sizes, random):
        """Inputs with these extents."""
        extents = dict(sizes)
        if self.total:
            extents[self.total] = sizes["past"] + sizes["sequence"]
        made = {}
        for name, dims in self.dims.items():
            shape = [extents.get(d, d) for d in dims]
            if "mask" in name:
                made[name] = mask(self.data[name][0].dtype, shape, random)
            elif name.startswith("position"):
                made[name] = np.tile(np.arange(shape[1]) + sizes.get("past", 0), (shape[0], 1))
            else:
                made[name] = drawn_like(self.data[name], dims, shape, random)
        return made


def dimension(d, value, axis):
    """Its extent or its name. An axis without a name is the batch where it comes first, as in states behind the layers."""
    if d.HasField("dim_value"):
        return d.dim_value
    if axis == 0 and (not d.dim_param or d.dim_param.startswith("unk")) or value == "state":
        return "batch"
    return d.dim_param or f"{value}.{axis}"


def mask(dtype, shape, random):
    """Rows that see all, that begin late, that end early, with holes, and one in six that sees nothing. Integers are 1 for what is seen; floats are added to scores."""
    seen = np.ones((shape[0], shape[-1]), bool)
    for row in seen:
        at = random.integers(0, len(row) + 1)
        kind = random.integers(6)
        if kind == 0:
            row[:] = False
        elif kind == 1:
            row[:at] = False
        elif kind == 2:
            row[at:] = False
        elif kind == 3:
            row[random.random(len(row)) < 0.3] = False
    seen = np.broadcast_to(seen.reshape(shape[0], *[1] * (len(shape) - 2), shape[-1]), shape)
    return np.where(seen, 0, -1e4).astype(dtype) if dtype.kind == "f" else seen.astype(dtype)


def drawn_like(examples, dims, shape, random):
    """Each element is one that the examples have at the same place of the fixed axes. Floats are stretched a little, so that no two rows are the same."""
    examples = [example for example in examples if example.size] or examples
    opened = [axis for axis, d in enumerate(dims) if isinstance(d, str)]
    if not opened:
        return examples[random.integers(len(examples))]
    fixed = [axis for axis in range(len(dims)) if axis not in opened]
    count = int(np.prod([shape[axis] for axis in fixed], dtype=np.int64))
    pool = np.concatenate([np.transpose(example, opened + fixed).reshape(-1, count) for example in examples])
    rows = int(np.prod([shape[axis] for axis in opened], dtype=np.int64))
    values = pool[random.integers(len(pool), size=(rows, count)), np.arange(count)]
    if values.dtype.kind == "f":
        values = (values * random.uniform(0.7, 1.3, values.shape)).astype(values.dtype)
    values = values.reshape([shape[axis] for axis in opened + fixed])
    return np.ascontiguousarray(np.transpose(values, np.argsort(opened + fixed)))


def of_folder(folder):
    """A case as tests/zoo has them, or None where all dimensions are fixed. The tolerance is the one that `onnxc run` takes there: it says how far engines with another order of sums are apart."""
    model = onnx.load(str(folder / "model.onnx"), load_external_data=False)
    if not any(isinstance(dimension(d, v.name, a), str) for v in model.graph.input for a, d in enumerate(v.type.tensor_type.shape.dim)):
        return None
    told, data = json.loads((folder / "case.json").read_text()), {}
    for path in sorted(folder.glob("test_data_set_*/input_*.pb")):
        tensor = onnx.load_tensor(str(path))
        array = numpy_helper.to_array(tensor)
        data.setdefault(tensor.name or model.graph.input[int(path.stem[6:])].name, []).append(array)
    if told.get("kind", "quant") == "quant" and "tol_rel_l2" in told:
        tolerance = {"rel_l2": told["tol_rel_l2"]}
    else:
        tolerance = {"rtol": told.get("rtol", 1e-3), "atol": told.get("atol", 1e-5)}
    return Case(folder.name, model, data, tolerance, str(folder / "model.onnx"))


def of_bench(name):
    """A network of bench/ whose input has a batch and a length; what is known of other values is left out."""
    network, result = KINDS[name]()
    model = network.model(result)
    examples = np.random.default_rng(5).standard_normal(network.x.shape).astype(np.float32)
    rank = len(examples.shape)
    for value, opened in (model.graph.input[0], {0: "batch", rank - 1: "length"}), (model.graph.output[0], {}):
        element = value.type.tensor_type.elem_type
        shape = [opened.get(axis, extent) for axis, extent in enumerate(examples.shape)] if opened else None
        value.CopyFrom(helper.make_tensor_value_info(value.name, element, shape))
    return Case(name, model, {"x": [examples]}, {"rel_l2": 1e-4})  # as tests/zoo/generate.py has it
