"""What an engine costs a program that runs a model once: time to the first result, memory, size. Each is measured in processes of its own.

onnxc:  a C++ program (first_result_unit.cpp around the unit), compiled with -O3 and stripped
peers:  a Python process that imports the engine, loads the model and runs it (first_result_peer.py)

Times are from the start of the process to the first result, the best of RUNS; memory is the median.
"""
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
RUNS = 5


def timed(command):
    """(seconds from its start, what it printed)"""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    return start, done.stdout


def build_program(model_path, threads, options, onnxc, work):
    """The stripped C++ program; returns its path."""
    unit, program = work / "unit.cpp", work / "program"
    subprocess.run([onnxc, model_path, "-o", unit, "--namespace=unit", f"--threads={threads}", f"--link-file={work / 'unit.link'}", *options],
                   check=True, capture_output=True)
    flags = ["-std=c++20", "-O3", "-march=native", "-pthread", f"-I{ROOT / 'runtime_stub'}", f'-DONNXC_WEIGHTS_DIR="{work}/"']
    sources = [BENCH / "first_result_unit.cpp", unit, *work.glob("*.o")]
    subprocess.run([os.environ.get("CXX", "c++"), *flags, *sources, f"-Wl,@{work / 'unit.link'}", "-o", program], check=True, capture_output=True)
    subprocess.run(["strip", program], check=True)
    return program


def of_onnxc(model_path, engine, feeds, threads, options, onnxc):
    """{seconds, peak_bytes, program_bytes}; `engine` tells the order of inputs and symbols."""
    inputs = [feeds[i.name] for i in engine.session.get_inputs()]
    if any(not isinstance(array, np.ndarray) or array.dtype.hasobject for array in inputs):
        raise RuntimeError("the C++ program feeds tensors of numbers only")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        program = build_program(model_path, threads, options, onnxc, work)
        command = [program, str(threads), *map(str, engine.symbols.values())]
        for k, array in enumerate(inputs):
            (work / f"input_{k}").write_bytes(np.ascontiguousarray(array).tobytes())
            command.append(work / f"input_{k}")
        seconds, peaks = [], []
        for _ in range(RUNS):
            start, printed = timed(command)
            at, peak = printed.split()
            seconds.append(float(at) - start)
            peaks.append(1024 * int(peak))
        return {"seconds": min(seconds), "peak_bytes": statistics.median(peaks), "program_bytes": program.stat().st_size}


def of_peer(name, model_path, feeds, threads):
    """{seconds, peak_bytes, peak_without_import_bytes, first_run_bytes, library_bytes}; `first_run_bytes`: by how much the run itself grew the process"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "feeds"
        file.write_bytes(pickle.dumps(feeds))
        runs = []
        for _ in range(RUNS):
            start, printed = timed([sys.executable, BENCH / "first_result_peer.py", name, model_path, str(threads), file])
            runs.append({**json.loads(printed.splitlines()[-1]), "start": start})
        peak, loaded, imported = (1024 * statistics.median(run[key] for run in runs) for key in ("peak_kib", "loaded_kib", "imported_kib"))
        return {
            "seconds": min(run["at"] - run["start"] for run in runs),
            "peak_bytes": peak,
            "peak_without_import_bytes": peak - imported,
            "first_run_bytes": peak - loaded,
            "library_bytes": runs[0]["library_bytes"],
        }
