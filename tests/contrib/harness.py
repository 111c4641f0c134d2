"""Compares single operators, compiled by onnxc, with ONNX Runtime or with values that a check computes itself.

    check("DFT 7", "DFT", [x], dict(onesided=1), constants={2: np.array(1)}, expect=[y])

`inputs` are arrays, or None for an input that is not there; those whose index is in `constants` are initialisers of the model, so that onnxc may
fold them. Without `expect`, ONNX Runtime's CPU kernel says what is right; `shared` tells it which outputs lie where which inputs do,
and `rows` how many of the axis 2 of all outputs but the first mean something.
"""
import pathlib
import re
import sys

import numpy as np
from onnx import helper, numpy_helper

import onnxc

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from record import record  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402

CHECKS = []


class Check:
    def __init__(self, name, op, inputs, attributes=None, *, outputs=1, constants=(), domain="", opset=21, expect=None, rtol=1e-4, atol=1e-5, refused=None,
                 wanted=None, out_types=None, verify=None, graph=None, compared=None, shared=None, rows=None,
                 options=()):
        self.__dict__.update(locals())
        del self.__dict__["self"]
        CHECKS.append(self)

    def model(self):
        if self.graph is not None:
            return self.graph
        names = ["" if x is None else f"x{i}" for i, x in enumerate(self.inputs)]
        kept = range(self.outputs) if self.wanted is None else self.wanted
        results = [f"y{i}" if i in kept else "" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, results, "node", domain=self.domain, **(self.attributes or {}))
        graph_inputs, initializers = [], []
        for i, x in enumerate(self.inputs):
            if x is None:
                continue
            if i in self.constants:
                initializers.append(numpy_helper.from_array(x, f"x{i}"))
            else:
                graph_inputs.append(helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape))
        graph_outputs = []
        for i in kept:
            type = (self.out_types or {}).get(i) or helper.np_dtype_to_tensor_dtype((self.expect[i] if self.expect else self.inputs[0]).dtype)
            graph_outputs.append(helper.make_tensor_value_info(f"y{i}", type, None))
        graph = helper.make_graph([node], "check", graph_inputs, graph_outputs, initializers)
        domains = {"": self.opset}
        if self.domain:
            domains[self.domain] = 1
        return helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in domains.items()], ir_version=10)

    def feeds(self):
        if self.graph is not None:
            return self.inputs
        return {f"x{i}": x for i, x in enumerate(self.inputs) if x is not None and i not in self.constants}

    def expected(self, model):
        if self.expect is not None:
            return [self.expect[i] for i in (range(self.outputs) if self.wanted is None else self.wanted)]
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        if not self.shared:
            return session.run(None, self.feeds())
        binding, values = session.io_binding(), {k: onnxruntime.OrtValue.ortvalue_from_numpy(x.copy()) for k, x in self.feeds().items()}
        for k, value in values.items():
            binding.bind_ortvalue_input(k, value)
        for i in range(self.outputs):
            if i in self.shared:
                binding.bind_ortvalue_output(f"y{i}", values[f"x{self.shared[i]}"])
            else:
                binding.bind_output(f"y{i}")
        session.run_with_iobinding(binding)
        return binding.copy_outputs_to_cpu()

    def unit(self):
        return Unit(self.model(), self.options)

    def judge(self, session):
        """Empty, or what is wrong with the session, which may be why there is none."""
        if isinstance(session, onnxc.CompileError):
            return "" if self.refused and re.search(self.refused, str(session)) else str(session)
        if self.refused:
            return "was not refused"
        got = session.run(None, self.feeds())
        if self.verify:
            return self.verify(*got) or ""
        for i, (a, b) in enumerate(zip(got, self.expected(self.model()), strict=True)):
            if self.compared is not None and i not in self.compared:
                continue
            if self.rows is not None and i:
                a, b = a[:, :, : self.rows], b[:, :, : self.rows]
            if a.shape != b.shape:
                return f"output {i} has shape {a.shape}, expected {b.shape}"
            if a.dtype != b.dtype:
                return f"output {i} is {a.dtype}, expected {b.dtype}"
            if not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=self.rtol, atol=self.atol, equal_nan=True):
                error = np.abs(a.astype(np.float64) - b.astype(np.float64))
                return f"output {i} differs by up to {np.nanmax(error):.3g} (values up to {np.nanmax(np.abs(b.astype(np.float64))):.3g})"
        return ""


def check(*arguments, **options):
    Check(*arguments, **options)


def check_model(name, model, feeds, expect=None, **options):
    Check(name, "", feeds, graph=model, outputs=len(model.graph.output), expect=expect, **options)


def numbers(*shape, seed=0, dtype=np.float32, scale=1.0):
    return (np.random.default_rng(seed + 7 * len(shape) + sum(shape)).standard_normal(shape) * scale).astype(dtype)


def run_all(checks):
    """Checks, or Cases of case.py: tells which fail. Returns the exit status."""

    def judge(each, session):
        try:
            return each.judge(session)
        except Exception as error:  # of ONNX Runtime, or of the check
            return f"{type(error).__name__}: {error}"

    failed = 0
    for each, fault in zip(checks, judged_in_groups(checks, lambda each: [each.unit()], judge), strict=True):
        if not each.refused:
            record("contrib", each.name, each.unit().model, not fault, each.unit().options)
        if fault:
            failed += 1
            print(f"FAILED {each.name}: {fault[:400]}", flush=True)
    print(f"{len(checks) - failed} of {len(checks)} passed")
    return 1 if failed else 0
