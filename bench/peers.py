"""Compares onnxc with ONNX Runtime and OpenVINO: medians of blocks that take turns, in one process, on the same inputs.

    peers.py MODEL ... [--threads 1] [--seconds 3] [--peers ort,ov] [--json FILE] [--native-loop] [--option ARG ...]

MODEL is an .onnx file or a folder with model.onnx; test_data_set_0 beside it gives the inputs, else they are made up. A block is at least
20 ms of calls; the engines take turns block by block, so that changes of the clock hit all alike. Inputs and outputs are bound beforehand
(io binding for ONNX Runtime, shared tensors for OpenVINO). All engines are called from Python, which adds some 0.3 to 2 us a call to each;
--native-loop takes that off onnxc's side. Precision is f32 for all. Ratios inside one run count, not times from different runs.
"""

import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

BLOCK_SECONDS = 0.02
FEWEST_BLOCKS = 7


# ---- data

def read_inputs(model_path):
    """{name: array} of test_data_set_0 beside the model, or None."""
    import onnx
    from onnx import numpy_helper

    folder = model_path.parent / "test_data_set_0"
    if not folder.exists():
        return None
    graph = onnx.load(model_path, load_external_data=False).graph
    initialised = {i.name for i in graph.initializer}
    names = [i.name for i in graph.input]
    fed = [n for n in names if n not in initialised]
    files = sorted(folder.glob("input_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    feeds = {}
    for k, file in enumerate(files):
        tensor = onnx.load_tensor(file)
        feeds[tensor.name if tensor.name in names else (fed if len(files) == len(fed) else names)[k]] = np.array(numpy_helper.to_array(tensor))
    return {name: array for name, array in feeds.items() if name in fed}


def make_inputs(session):
    """Made-up inputs for an ONNX Runtime session; dynamic dimensions are 1."""
    random = np.random.default_rng(1)
    feeds = {}
    for info in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in info.shape]
        kind = info.type[len("tensor("):-1]
        if kind in ("float", "double", "float16"):
            feeds[info.name] = random.uniform(-1, 1, shape).astype({"float": np.float32, "double": np.float64, "float16": np.float16}[kind])
        elif kind in ("uint8", "int8"):
            feeds[info.name] = random.integers(0, 127, shape).astype(kind)
        else:
            feeds[info.name] = random.integers(0, 2, shape).astype(kind)
    return feeds


# ---- engines: each has `name`, calls(n) and outputs()

class Onnxc:
    name = "onnxc"

    def __init__(self, model_path, feeds, args):
        import onnxc
        from onnxc import abi

        self._session = onnxc.InferenceSession(str(model_path), threads=args.threads, options=args.option)
        if args.threads > 1:
            executor = native_loop().onnxc_bench_team(args.threads)
            self._session._executor = ctypes.cast(executor, ctypes.POINTER(abi.Executor)).contents
        self._binding = self._session.bind({i.name: feeds[i.name] for i in self._session.get_inputs()})
        if args.native_loop:
            loop, model, call = native_loop().onnxc_bench_loop, self._session._model, self._binding._call
            run = ctypes.cast(model.run, ctypes.c_void_p)

            def calls(n):
                if status := loop(run, ctypes.byref(call), ctypes.c_int64(n)):
                    raise RuntimeError(f"status {status}")

            self.calls = calls

    def calls(self, n):
        run = self._binding.run
        for _ in range(n):
            run()

    def outputs(self):
        self._binding.run()
        return [np.array(o) for o in self._binding.outputs]


class OnnxRuntime:
    name = "ort"

    def __init__(self, model_path, feeds, args):
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = args.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = ort.InferenceSession(str(model_path), options, providers=["CPUExecutionProvider"])
        self._binding = None
        if feeds is None:
            return
        self._feeds = feeds
        self._binding = self.session.io_binding()
        values = {name: ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for name, array in feeds.items()}
        for name, value in values.items():
            self._binding.bind_ortvalue_input(name, value)
        results = self.session.run(None, feeds)
        self._kept = values, [ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(r)) for r in results]
        for info, value in zip(self.session.get_outputs(), self._kept[1]):
            self._binding.bind_ortvalue_output(info.name, value)

    def calls(self, n):
        run, binding = self.session.run_with_iobinding, self._binding
        for _ in range(n):
            run(binding)

    def outputs(self):
        return self.session.run(None, self._feeds)


class OpenVino:
    name = "ov"

    def __init__(self, model_path, feeds, args):
        import openvino as ov

        core = ov.Core()
        model = core.read_model(str(model_path))
        model.reshape({name: list(array.shape) for name, array in feeds.items()})
        config = {"INFERENCE_NUM_THREADS": args.threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        self._request = core.compile_model(model, "CPU", config).create_infer_request()
        self._tensors = {name: ov.Tensor(np.ascontiguousarray(array), shared_memory=True) for name, array in feeds.items()}
        for name, tensor in self._tensors.items():
            self._request.set_tensor(name, tensor)

    def calls(self, n):
        infer = self._request.infer
        for _ in range(n):
            infer()

    def outputs(self):
        self._request.infer()
        return [np.array(t.data) for t in self._request.output_tensors]


def native_loop():
    """bench/native_loop.cpp as a library, built when its sources are newer."""
    if not hasattr(native_loop, "library"):
        source = ROOT / "bench" / "native_loop.cpp"
        sources = [source, *(ROOT / "tools/driver").glob("thread_team.h"), *(ROOT / "runtime_stub/onnxc").glob("[mt]*.h*")]
        cache = Path(os.environ.get("ONNXC_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onnxc")
        library = cache / "native_loop.so"
        if not library.exists() or library.stat().st_mtime < max(s.stat().st_mtime for s in sources):
            cache.mkdir(parents=True, exist_ok=True)
            compiler = os.environ.get("CXX", "c++")
            includes = [f"-I{ROOT}", f"-I{ROOT / 'runtime_stub'}"]
            subprocess.run([compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-pthread", *includes, source, "-o", library], check=True)
        native_loop.library = ctypes.CDLL(str(library))
        native_loop.library.onnxc_bench_team.restype = ctypes.c_void_p
    return native_loop.library


# ---- measuring

def block(engine, calls):
    begin = time.perf_counter()
    engine.calls(calls)
    return time.perf_counter() - begin


def calls_for_block(engine):
    block(engine, 2)
    calls = 1
    while (took := block(engine, calls)) < BLOCK_SECONDS:
        calls = max(2 * calls, int(1.1 * BLOCK_SECONDS / max(took, 1e-7) * calls))
    return calls


def measure(engines, seconds):
    """Blocks in turn; {name: {median, best, p90, blocks}} in seconds a call."""
    calls = [calls_for_block(engine) for engine in engines]
    latencies = [[] for _ in engines]
    end = time.perf_counter() + seconds * len(engines)
    turn = 0
    while time.perf_counter() < end or turn < FEWEST_BLOCKS:
        order = range(len(engines)) if turn % 2 == 0 else reversed(range(len(engines)))
        for k in order:
            latencies[k].append(block(engines[k], calls[k]) / calls[k])
        turn += 1
    return {
        engine.name: {
            "median": statistics.median(samples),
            "best": min(samples),
            "p90": sorted(samples)[round(0.9 * (len(samples) - 1))],
            "blocks": len(samples),
            "calls_a_block": n,
        }
        for engine, samples, n in zip(engines, latencies, calls)
    }


def difference(actual, expected):
    """The largest relative L2 difference over outputs."""
    largest = 0.0
    for a, e in zip(actual, expected):
        if e.dtype.kind not in "fiub":
            continue
        if a.shape != e.shape:
            return math.inf
        norm = float(np.linalg.norm(e.astype(np.float64))) or 1.0
        largest = max(largest, float(np.linalg.norm(a.astype(np.float64) - e.astype(np.float64))) / norm)
    return largest


def compare(model_path, args):
    feeds = read_inputs(model_path)
    if feeds is None:
        feeds = make_inputs(OnnxRuntime(model_path, None, args).session)
    makers = {"ort": OnnxRuntime, "ov": OpenVino}
    engines, notes = [], {}
    for maker in [Onnxc, *(makers[p] for p in args.peers.split(",") if p)]:
        try:
            engines.append(maker(model_path, feeds, args))
        except Exception as error:  # an engine that cannot run the model is a result, too
            notes[maker.name] = " ".join(str(error).split())[:300]
    result = {"model": str(model_path), "threads": args.threads, "engines": measure(engines, args.seconds) if engines else {}, "notes": notes}
    outputs = {engine.name: engine.outputs() for engine in engines}
    if "onnxc" in outputs and "ort" in outputs:
        result["onnxc_to_ort_rel_l2"] = difference(outputs["onnxc"], outputs["ort"])
    return result


# ---- report

def microseconds(figures):
    return f"{figures['median'] * 1e6:.4g}" if figures else "-"


def factor(result, peers):
    """How many times faster onnxc is than the fastest of `peers`; None where one of them is missing."""
    engines = result["engines"]
    others = [engines[p]["median"] for p in peers if p in engines]
    return min(others) / engines["onnxc"]["median"] if others and "onnxc" in engines else None


def print_table(results, peers):
    head = ["model", "onnxc us", *(f"{p} us" for p in peers), *(f"{p}/onnxc" for p in peers), "best peer/onnxc", "rel L2 to ort"]
    print("| " + " | ".join(head) + " |")
    print("|---" + "|---:" * (len(head) - 1) + "|")
    for result in results:
        engines = result["engines"]
        path = Path(result["model"])
        cells = [path.parent.name if path.name == "model.onnx" else path.name, microseconds(engines.get("onnxc"))]
        cells += [microseconds(engines.get(p)) for p in peers]
        for group in [*([p] for p in peers), peers]:
            f = factor(result, group)
            cells.append(f"{f:.2f}" if f else "-")
        cells.append(f"{result['onnxc_to_ort_rel_l2']:.1e}" if "onnxc_to_ort_rel_l2" in result else "-")
        print("| " + " | ".join(cells) + " |")
        for engine, note in result["notes"].items():
            print(f"|   {engine}: {note.replace('|', '/')} |")
    factors = [f for r in results if (f := factor(r, peers))]
    if factors:
        print(f"\ngeometric mean over {len(factors)} models: {math.exp(statistics.fmean(map(math.log, factors))):.2f}, slowest {min(factors):.2f}")


def importable(peer):
    module = {"ort": "onnxruntime", "ov": "openvino"}[peer]
    try:
        __import__(module)
        return True
    except ImportError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3, help="of measuring for each engine and model")
    parser.add_argument("--peers", default="ort,ov")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--native-loop", action="store_true", help="call onnxc's units from native code")
    parser.add_argument("--option", action="append", default=[], help="an option for onnxc, such as --option=-O3")
    args = parser.parse_args()
    peers = [p for p in args.peers.split(",") if p and importable(p)]
    args.peers = ",".join(peers)

    results = []
    for model in args.models:
        path = Path(model)
        path = path / "model.onnx" if path.is_dir() else path
        results.append(compare(path, args))
        print(f"# {path}: " + ", ".join(f"{n} {microseconds(f)} us" for n, f in results[-1]["engines"].items()), file=sys.stderr, flush=True)
    print_table(results, peers)
    if args.json:
        Path(args.json).write_text(json.dumps({"threads": args.threads, "native_loop": args.native_loop, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
