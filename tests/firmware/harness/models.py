"""The models that firmware is tested with, their data and how far results may be from what is expected."""
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

FOURTEEN = [f"mlperf_tiny_{task}_{form}" for form in ("fp32", "int8") for task in ("ad", "ic", "kws", "vww")] + [
    "lenet5_digits", "lenet5_digits_qdq", "onnx2c_mnist", "emx_micro_kws_fp32", "emx_micro_kws_qdq", "churn_mlp"]

MADE = [f"made_{task}_{form}" for form in ("fp32", "int8") for task in ("ad", "ic", "kws", "vww")]
ROOT = Path(__file__).resolve().parents[3]


def folders():
    """{name: folder} of the fourteen where the zoo has them, and of those that are made."""
    cache = Path(os.environ["ONNXC_CACHE"])
    zoo, sources = cache / "zoo", [Path(__file__).with_name("made.py"), ROOT / "bench/network.py"]
    made = cache / f"firmware-{hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()[:12]}"
    if not (made / ".complete").exists():
        subprocess.run([sys.executable, sources[0], made], check=True, stderr=subprocess.DEVNULL)
        (made / ".complete").touch()
    return {name: zoo / name for name in FOURTEEN if (zoo / name / "case.json").exists()} | {name: made / name for name in MADE}


@dataclass
class Case:
    """A model with one set of inputs, one example each, and the outputs that are expected for it."""
    name: str
    model: Path
    inputs: list
    expected: list
    dims: dict  # the extents of named dimensions
    macs: int  # multiply-adds of one run, as the model has them
    quantised: bool
    tolerance: dict

    def error(self, outputs):
        """None if the outputs are right; else what is wrong with them."""
        for k, (found, expected) in enumerate(zip(outputs, self.expected, strict=True)):
            if found.shape != expected.shape:
                return f"output {k}: {found.size} elements instead of {expected.size}"
            a, e = found.astype(np.float64), expected.astype(np.float64)
            if not np.isfinite(a).all():
                return f"output {k}: not finite"
            if "tol_rel_l2" in self.tolerance and (self.quantised or "rtol" not in self.tolerance):
                distance, limit = np.linalg.norm(a - e) / max(np.linalg.norm(e), 1e-30), self.tolerance["tol_rel_l2"]
                if distance > limit:
                    return f"output {k}: relative distance {distance:.3g}, more than {limit:g}"
            else:
                excess = np.abs(a - e) - self.tolerance["rtol"] * np.abs(e) - self.tolerance["atol"]
                if excess.max(initial=-1) > 0:
                    return f"output {k}: {np.abs(a - e).max():.3g} off"
        return None


def read(path):
    return numpy_helper.to_array(onnx.load_tensor(str(path)))


def named_dims(graph, arrays):
    """The extents that the arrays give to the dimensions of the inputs that have names."""
    dims = {}
    weights = {tensor.name for tensor in graph.initializer}
    for value, array in zip((v for v in graph.input if v.name not in weights), arrays):
        for dim, extent in zip(value.type.tensor_type.shape.dim, array.shape):
            if dim.dim_param:
                dims[dim.dim_param] = extent
    return dims


def case(folder):
    """Of the model in the folder, with the first of its data sets whose dynamic dimensions are all 1: a microcontroller has one example at a time."""
    model = onnx.load(str(folder / "model.onnx"), load_external_data=False)
    told = json.loads((folder / "case.json").read_text())
    sets = sorted(folder.glob("test_data_set_*"))
    for data in sets:
        arrays = [read(data / f"input_{k}.pb") for k in range(len(list(data.glob("input_*.pb"))))]
        dims = named_dims(model.graph, arrays)
        if all(extent == 1 for extent in dims.values()) or len(sets) == 1:
            break
    else:
        raise SystemExit(f"{folder}: no data set of one example")
    macs = told.get("macs", 0)
    if bench := told.get("bench"):
        macs = macs * sum(a.size for a in arrays) // sum(int(np.prod(shape)) for shape in bench.values())
    return Case(folder.name, folder / "model.onnx", arrays, [read(path) for path in sorted(data.glob("output_*.pb"))], dims, macs,
                any(node.op_type in ("QuantizeLinear", "DequantizeLinear", "QLinearConv") for node in model.graph.node),
                {key: told[key] for key in ("rtol", "atol", "tol_rel_l2") if key in told})
