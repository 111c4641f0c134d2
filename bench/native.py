"""bench/native.cpp from Python: calls without Python's cost for each, the peak of the machine, and how near its processors are to each other."""
import ctypes
import functools
import hashlib
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def library():
    """The library, built into the cache once for each form of its sources: trees beside each other share the cache."""
    source = ROOT / "bench" / "native.cpp"
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in (source, *sorted((ROOT / "runtime_stub/onnxc").glob("*.h*")))))
    cache = Path(os.environ.get("ONNXC_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onnxc")
    built = cache / f"bench_native-{digest.hexdigest()[:12]}.so"
    if not built.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob("bench_native*.so"):
            if time.time() - old.stat().st_mtime > 86400:  # of forms that are no more
                old.unlink(missing_ok=True)
        fresh = cache / f"bench_native.{os.getpid()}.so"
        flags = ["-std=c++20", "-O2", "-march=native", "-shared", "-fPIC", "-pthread", f"-I{ROOT}", f"-I{ROOT / 'runtime_stub'}"]
        subprocess.run([os.environ.get("CXX", "c++"), *flags, source, "-o", fresh], check=True)
        fresh.replace(built)
    loaded = ctypes.CDLL(str(built))
    loaded.onnxc_bench_fma_peak.restype = loaded.onnxc_bench_handover.restype = loaded.onnxc_bench_reading.restype = ctypes.c_double
    return loaded


def fma_peak(threads, seconds=0.5):
    """f32 multiply-adds a second that `threads` threads reach together: the best of many short blocks on each."""
    return library().onnxc_bench_fma_peak(threads, ctypes.c_double(seconds))


def reading(threads, size, seconds=0.5):
    """Bytes a second at which `threads` threads together read `size` bytes again and again: the best of many rounds."""
    return library().onnxc_bench_reading(threads, ctypes.c_int64(size), ctypes.c_double(seconds))


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
