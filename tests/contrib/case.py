"""A small model, what it is fed and how exactly its results are known."""
import pathlib
import sys
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from units import Unit  # noqa: E402


@dataclass
class Case:
    name: str
    model: onnx.ModelProto
    feeds: dict
    rtol: float = 1e-4
    atol: float = 1e-5
    off: int = 0  # integers: how many steps apart
    wanted: list = None  # where ONNX Runtime is not the oracle
    refused = None  # as a Check has it: onnxc takes all of these

    def unit(self):
        return Unit(self.model, ("-O2",))

    def judge(self, session):
        """What is wrong with the session, which may be why there is none; or nothing."""
        if isinstance(session, Exception):
            return str(session)
        try:
            wanted = self.wanted if self.wanted is not None else expected(self)
        except Exception as error:  # a case that the oracle refuses shows nothing
            return f"ONNX Runtime refuses it: {error}"
        for info, a, e in zip(self.model.graph.output, session.run(None, self.feeds), wanted):
            if problem := difference(np.asarray(a), np.asarray(e), self):
                return f"{info.name}: {problem}"
        return None


def number_type(array):
    return helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)


def case(name, op, inputs, outputs=1, constants=(), domain="com.microsoft", opset=21, attributes=None, then_cast=None, **tolerance):
    """One node. `inputs`: arrays, None for an absent one; those whose numbers are in `constants` are initialisers. `outputs`: how many, or a list of which
    are there. `then_cast`: a type that the first output is cast to, where ONNX Runtime cannot give numpy the one it has; inputs of such types become
    initialisers."""
    names, feeds, graph_inputs, initialisers = [], {}, [], []
    for i, array in enumerate(inputs):
        names.append("" if array is None else f"x{i}")
        if array is None:
            continue
        array = np.asarray(array)
        if i in constants or array.dtype.name.startswith(("int4", "uint4", "float8", "float4")):
            initialisers.append(numpy_helper.from_array(array, names[i]))
        else:
            graph_inputs.append(helper.make_tensor_value_info(names[i], number_type(array), array.shape))
            feeds[names[i]] = array
    there = [True] * outputs if isinstance(outputs, int) else list(outputs)
    results = [f"y{k}" if yes else "" for k, yes in enumerate(there)]
    node = helper.make_node(op, names, results, domain=domain, **(attributes or {}))
    graph_outputs = [helper.make_empty_tensor_value_info(name) for name in results if name]
    nodes = [node]
    if then_cast:
        nodes.append(helper.make_node("Cast", results[:1], ["cast"], to=then_cast))
        graph_outputs[0] = helper.make_empty_tensor_value_info("cast")
    graph = helper.make_graph(nodes, "case", graph_inputs, graph_outputs, initialisers)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return Case(name, model, feeds, **tolerance)


def difference(actual, wanted, case):
    """What is wrong with an output, or nothing."""
    if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
        return f"{actual.dtype}{list(actual.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    a, e = actual.astype(np.float64), wanted.astype(np.float64)
    if np.issubdtype(wanted.dtype, np.integer):
        wrong = np.abs(a - e) > case.off
    else:
        wrong = ~(np.isclose(a, e, rtol=case.rtol, atol=case.atol, equal_nan=True))
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements differ; {list(at)} is {a[at]}, expected {e[at]}"


def expected(case):
    """What ONNX Runtime gives."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # with more, DynamicQuantizeLSTM takes the range of h of each thread's sequences
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, case.feeds)


__all__ = ["Case", "case", "expected", "np", "helper", "TensorProto", "onnx", "numpy_helper"]
