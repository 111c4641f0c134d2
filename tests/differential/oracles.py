"""What ONNX Runtime and onnx.reference say of a case, and whether they agree."""
import dataclasses
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, shape_inference
from onnx.reference import ReferenceEvaluator

from draw import is_float, type_of
from spec import model_of, names_of_outputs

warnings.simplefilter("ignore")
np.seterr(all="ignore")
onnxruntime.set_default_logger_severity(4)

# Types that ONNX Runtime's Python does not pass on: such inputs are initialisers, such outputs are cast.
CARRIER = {"bfloat16": np.float32, "int4": np.int8, "uint4": np.uint8, "int2": np.int8, "uint2": np.uint8}


def carrier(dtype):
    name = np.dtype(dtype).name
    return CARRIER.get(name, np.float32 if name.startswith(("float8", "float4")) else None)


def output_types(spec):
    """Element types of the outputs by ONNX's inference; 0 where it does not tell."""
    inferred = shape_inference.infer_shapes(model_of(spec, set(spec.fixed)), check_type=False)
    return [o.type.tensor_type.elem_type for o in inferred.graph.output]


RUNTIME_OPSET = 26  # what ONNX Runtime 1.31 loads


def for_runtime(spec):
    """The same node under an opset that ONNX Runtime knows, where its types are allowed there; it throws otherwise."""
    if spec.opset <= RUNTIME_OPSET or spec.nodes is not None:
        return spec
    return dataclasses.replace(spec, opset=RUNTIME_OPSET)


def ask_runtime(spec):
    """Values of the outputs by ONNX Runtime's CPU kernels; throws where it has none."""
    types = output_types(spec)
    spec = for_runtime(spec)
    names = [n for n in names_of_outputs(spec) if n]
    hidden = {i for i, x in enumerate(spec.inputs) if isinstance(x, np.ndarray) and carrier(x.dtype) is not None}
    after, outputs = [], []
    for name, kind in zip(names, types):
        to = carrier(helper.tensor_dtype_to_np_dtype(kind)) if kind else None
        if to is None:
            outputs.append(helper.make_empty_tensor_value_info(name))
        else:
            after.append(helper.make_node("Cast", [name], [name + "_carried"], to=helper.np_dtype_to_tensor_dtype(np.dtype(to))))
            outputs.append(helper.make_empty_tensor_value_info(name + "_carried"))
    model = model_of(spec, set(spec.fixed) | hidden, outputs=outputs, after=after)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {f"x{i}": x for i, x in enumerate(spec.inputs) if x is not None and i not in hidden and i not in spec.fixed}
    results = session.run(None, feeds)
    return [as_type(value, kind) for value, kind in zip(results, types)]


def in_float32(spec):
    """The case on float32, for kernels that ONNX Runtime has for no other float; None where nothing changes."""
    def narrow(x):
        return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype.name in ("float16", "bfloat16", "float64") else x
    inputs = [narrow(x) for x in spec.inputs]
    if spec.nodes is not None or all(a is b for a, b in zip(inputs, spec.inputs)):
        return None
    for a, b in zip(inputs, spec.inputs):
        if a is not b and not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-6, atol=0, equal_nan=True):
            return None  # what float32 cannot hold
    return dataclasses.replace(spec, inputs=inputs)


def ask_runtime_in_float32(spec):
    """What ask_runtime gives for float32, as the types that the case has."""
    twin = in_float32(spec)
    if twin is None:
        raise NotImplementedError
    types = output_types(spec)
    wanted = [helper.tensor_dtype_to_np_dtype(kind) if kind else spec.inputs[0].dtype for kind in types]
    return [value.astype(dtype) if isinstance(value, np.ndarray) and is_float(value.dtype) else value for value, dtype in zip(ask_runtime(twin), wanted)]


def as_type(value, kind):
    if not isinstance(value, (np.ndarray, np.generic)) or not kind:
        return value
    value = np.asarray(value)
    wanted = helper.tensor_dtype_to_np_dtype(kind)
    return value.astype(wanted) if carrier(wanted) is not None else value


def ask_reference(spec):
    model = model_of(spec, set(spec.fixed))
    feeds = {f"x{i}": x for i, x in enumerate(spec.inputs) if x is not None and i not in spec.fixed}
    results = ReferenceEvaluator(model).run(None, feeds)
    types = output_types(spec)
    for i, (value, kind) in enumerate(zip(results, types)):
        if value is None:
            raise ValueError(f"no output {i}")
        if isinstance(value, (np.ndarray, np.generic)):
            results[i] = np.asarray(value)
            wanted = helper.tensor_dtype_to_np_dtype(kind) if kind else results[i].dtype
            if results[i].dtype.kind in "US":
                results[i] = results[i].astype(object)
            if results[i].dtype == object and not all(isinstance(text, str) for text in results[i].flat):
                raise TypeError(f"output {i} holds what is no string")
            if results[i].dtype != wanted:
                raise TypeError(f"output {i} is {results[i].dtype}, not {wanted}")
    return results


# Half a unit in the last place, with what several roundings on the way make of it.
RELATIVE = {"float16": 4e-3, "bfloat16": 2.0 ** -6, "float32": 2e-5, "float64": 1e-10, "complex64": 2e-5, "complex128": 1e-10}
ABSOLUTE = {"float16": 2e-3, "bfloat16": 2.0 ** -7, "float32": 2e-6, "float64": 1e-11, "complex64": 2e-6, "complex128": 1e-11}


def tolerance(spec, outputs, coarsest=None):
    """rtol, atol, int_atol of a case. The coarsest type among its floats, and `coarsest`, decides; float8 and float4 are exact."""
    kinds = ([coarsest] if coarsest else []) + [x.dtype.name for x in list(outputs) + list(spec.inputs) if isinstance(x, np.ndarray) and x.dtype.name in RELATIVE]
    rtol = max((RELATIVE[k] for k in kinds), default=0) if spec.rtol is None else spec.rtol
    atol = max((ABSOLUTE[k] for k in kinds), default=0) if spec.atol is None else spec.atol
    return {"rtol": rtol, "atol": atol, "int_atol": spec.int_atol}


def difference(actual, wanted, tolerance):
    """What is wrong with a value, or nothing: tools/driver/compare.h in short."""
    if isinstance(wanted, dict) or isinstance(actual, dict):
        return None if actual == wanted else f"{actual} is not {wanted}"
    if isinstance(wanted, list) or isinstance(actual, list):
        if not (isinstance(wanted, list) and isinstance(actual, list) and len(wanted) == len(actual)):
            return "other items"
        return next((d for a, w in zip(actual, wanted) if (d := difference(a, w, tolerance))), None)
    actual, wanted = np.asarray(actual), np.asarray(wanted)
    if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
        return f"{actual.dtype}{list(actual.shape)} is not {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype == object or wanted.dtype == bool:
        wrong = np.asarray(actual != wanted)
    elif is_float(wanted.dtype) or wanted.dtype.kind == "c":
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        wrong = ~np.isclose(actual.astype(wide), wanted.astype(wide), rtol=tolerance["rtol"], atol=tolerance["atol"], equal_nan=True)
    else:
        a, w = actual.astype(object), wanted.astype(object)
        wrong = np.asarray(abs(a - w) > tolerance["int_atol"]).astype(bool)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements differ; {list(at)} is {actual[at]}, not {wanted[at]}"
