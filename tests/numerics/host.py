"""The x86 machines of --target that this processor is."""
from pathlib import Path

OF_FLAG = {"x86-64-v2": "sse4_1", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}


def flags():
    """What /proc/cpuinfo says; empty where there is no such file, or no x86."""
    info = Path("/proc/cpuinfo")
    return set(next((line for line in info.read_text().splitlines() if line.startswith("flags")), "").split()) if info.exists() else set()


def x86_targets():
    has = flags()
    return [target for target, flag in OF_FLAG.items() if flag in has]
