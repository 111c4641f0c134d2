"""bench/native.cpp from Python: calls without Python's cost for each, the peak of the machine, and how near its processors are to each other."""
import ctypes
import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def library():
    """The library, built into the cache when its sources are newer."""
    source = ROOT / "bench" / "native.cpp"
    sources = [source, *(ROOT / "runtime_stub/onnxc").glob("*.h*")]
    cache = Path(os.environ.get("ONNXC_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onnxc")
    built = cache / "bench_native.so"
    if not built.exists() or built.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        cache.mkdir(parents=True, exist_ok=True)
        fresh = cache / f"bench_native.{os.getpid()}.so"
        flags = ["-std=c++20", "-O2", "-march=native", "-shared", "-fPIC", "-pthread", f"-I{ROOT}", f"-I{ROOT / 'runtime_stub'}"]
        subprocess.run([os.environ.get("CXX", "c++"), *flags, source, "-o", fresh], check=True)
        fresh.replace(built)
    loaded = ctypes.CDLL(str(built))
    loaded.onnxc_bench_fma_peak.restype = loaded.onnxc_bench_handover.restype = ctypes.c_double
    return loaded


def fma_peak(threads, seconds=0.5):
    """f32 multiply-adds a second that `threads` threads reach together: the best of many short blocks on each."""
    return library().onnxc_bench_fma_peak(threads, ctypes.c_double(seconds))


def handover(threads):
    """Seconds that a cache line takes from one thread to another, which on a virtual machine may change as its host moves the processors; None of one thread or on one processor."""
    return library().onnxc_bench_handover() if min(threads, len(os.sched_getaffinity(0))) > 1 else None


def loop(model, call):
    """A function of n that runs the model n times; `model` and `call` are those of the C ABI."""
    function, run = library().onnxc_bench_loop, ctypes.cast(model.run, ctypes.c_void_p)

    def calls(n):
        if status := function(run, ctypes.byref(call), ctypes.c_int64(n)):
            raise RuntimeError(f"status {status}")

    return calls
