"""A program as users write them, every part of the public interface with the types that it states: types.sh lets mypy --strict read it, and nothing runs it.

A line with `type: ignore` is a mistake, which mypy has to find: it says so where it does not.
"""
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxc
import onnxc.backend

Image = npt.NDArray[np.float32]


def classify(model: Path, image: Image) -> Image:
    session = onnxc.InferenceSession(model, threads=2, dims={"batch": 8, "sequence": (1, 64)}, options=["-O3"], custom_ops={"my.Op": "op.hpp:op, y0 = x0"}, include_dirs=[Path(".")])
    given = session.get_inputs()[0]
    name: str = given.name
    assert given.type == "tensor(float)" and len(given.shape) == 4
    scores: Image
    scores, = session.run(None, {name: image})
    return scores


def as_for_onnxruntime(model: bytes) -> list[Any]:
    options = onnxc.SessionOptions()
    options.intra_op_num_threads = 2
    options.graph_optimization_level = onnxc.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = onnxc.ExecutionMode.ORT_PARALLEL
    options.log_severity_level = 3
    options.add_free_dimension_override_by_name("batch", 1)
    session = onnxc.InferenceSession(model, options, providers=["CPUExecutionProvider"], provider_options=[{}])
    onnxc.InferenceSession(model, options, [("cuda", {"device_id": 1}), "cpu"], architecture="sm90")
    providers: list[str] = [*session.get_providers(), *onnxc.get_available_providers()]
    binding: onnxc.IOBinding = session.io_binding()
    binding.bind_cpu_input("x", np.zeros(3))
    binding.bind_output("y")
    session.run_with_iobinding(binding, onnxc.RunOptions())
    return [*binding.copy_outputs_to_cpu(), *session.run(["y"], {"x": [1.0, 2.0]}, onnxc.RunOptions()), *providers]


def in_a_loop(session: onnxc.InferenceSession, image: Image) -> float:
    bound: onnxc.Binding = session.bind({"image": image})
    bound.run()
    first: Image = bound.outputs[0]
    assert first is bound.outputs["scores"] and bound.outputs.keys() == ("scores",)
    state = session.new_state(batch=1, past=512)
    logits: Image
    logits, = state.run(["logits"], {"input_ids": np.zeros((1, 1), np.int64)})
    state.reset()
    return float(first.max() + logits.max()) + len(state.values)


def smaller(model: onnx.ModelProto, samples: Image) -> str:
    report: dict[str, Any] = onnxc.compress(model, Path("fewer.onnx"), {"image": samples}, parameters=30, labels=[1, 2, 3], keep_accuracy=0.5)
    report |= onnxc.quantize("fewer.onnx", "small.onnx", samples, format="qdq", method="mse", keep_cosine=0.99)
    try:
        return onnxc.compile("small.onnx", Path("small.so"), threads=2, options=["--weights=asm"])
    except onnxc.CompileError as error:
        code: int = error.exit_code
        return f"{error} {code} {onnxc.find_executable()}"
    except onnxc.RunError as error:
        status: int = error.status
        return str(status)


def as_a_backend(model: onnx.ModelProto, image: Image) -> tuple[Any, ...]:
    prepared = onnxc.backend.prepare(model, "CPU", threads=2)
    return prepared.run([image])


def elsewhere(model: Path) -> onnxc.InferenceSession:
    library = onnxc.Library(model, target="x86-64-v3", dims={"batch": (1, 64)}, options=["-O2"])
    names: list[str] = [column.name for column in library.inputs]
    assert names
    try:
        return library.session()
    except onnxc.ProcessorError:
        raise


def mistakes(session: onnxc.InferenceSession, options: onnxc.SessionOptions) -> None:
    onnxc.InferenceSession(3)  # type: ignore[arg-type]
    onnxc.InferenceSession("model.onnx", thread=2)  # type: ignore[call-arg]
    session.run(None, ["x"])  # type: ignore[arg-type]
    session.run(None, {"x": 1}).shape  # type: ignore[attr-defined]
    session.bind({"x": 1}).outputs.x  # type: ignore[attr-defined]
    session.new_state(batch="one")  # type: ignore[arg-type]
    options.intra_op_num_threads = "two"  # type: ignore[assignment]
    onnxc.quantize("model.onnx", "small.onnx", format="int8")  # type: ignore[arg-type]
    onnxc.compress("model.onnx", "small.onnx")  # type: ignore[call-arg]
    onnxc.compile("model.onnx", dims={"batch": "8"})  # type: ignore[dict-item]
    onnxc.Library("model.onnx", custom_ops=["my.Op"])  # type: ignore[arg-type]
