"""Which instructions a compiled unit may contain, and whether this processor has them.

Instructions are called as Linux lists them in /proc/cpuinfo: `flags` of x86-64, `Features` of AArch64.
"""
import functools
from collections.abc import Collection

_V2 = frozenset("cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2".split())
_V3 = _V2 | frozenset("abm avx avx2 bmi1 bmi2 f16c fma movbe".split())
_V4 = _V3 | frozenset("avx512f avx512bw avx512cd avx512dq avx512vl".split())
_ZEN = _V4 | {"avx512_vnni", "avx512_bf16"}
_ARM = frozenset("fp asimd".split())

# The targets of onnxc whose units Linux can load, as targets/target.cpp and the processors' psABI have them.
TARGETS = {
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
    "zen4": _ZEN,
    "zen5": _ZEN,
    "aarch64": _ARM,
    "aarch64-dotprod": _ARM | {"atomics", "asimdrdm", "asimddp"},
    "aarch64-i8mm": _ARM | {"atomics", "asimdrdm", "asimddp", "i8mm"},
    "generic": frozenset(),
}

# What a C++ compiler puts into code by itself when it is told -march=native. Others (AES, AMX, ...) need to be asked for in the source.
_NATIVE = _ZEN | frozenset(
    "avx512ifma avx512vbmi avx512_vbmi2 avx512_bitalg avx512_vpopcntdq avx512_fp16 avx_vnni avx_ifma avx_vnni_int8 gfni sse4a fma4 xop tbm "
    "fp asimd atomics fphp asimdhp asimdrdm jscvt fcma lrcpc asimddp asimdfhm sve sve2 i8mm bf16 svei8mm svebf16 flagm ilrcpc frint mops".split()
)
_MACHINES = {62: "x86-64", 183: "AArch64"}  # e_machine of ELF files


@functools.lru_cache(maxsize=None)
def instructions() -> frozenset[str] | None:
    """What this processor has beyond its kind's first; None where the system does not tell."""
    try:
        with open("/proc/cpuinfo") as file:
            line = next((line for line in file if line.startswith(("flags", "Features"))), None)
    except OSError:
        return None
    return None if line is None else frozenset(line.partition(":")[2].split())


def needed(target: str) -> frozenset[str]:
    """The instructions that units for `target` may contain: of "native" those that compilers use of this processor's."""
    if target == "native":
        return (instructions() or frozenset()) & _NATIVE
    return TARGETS[target]


def machine_of(library: bytes) -> str:
    """The kind of processor that an ELF file is for."""
    if library[:4] != b"\x7fELF":
        raise ValueError("not a shared library of Linux")
    number = int.from_bytes(library[18:20], "little" if library[5] == 1 else "big")
    return _MACHINES.get(number, f"ELF machine {number}")


@functools.lru_cache(maxsize=None)
def this_machine() -> str:
    with open("/proc/self/exe", "rb") as file:
        return machine_of(file.read(20))


def lacking(machine: str, wanted: Collection[str]) -> str | None:
    """What keeps this processor from running code for `machine` that contains the instructions `wanted`; None if nothing does."""
    if machine != this_machine():
        return f"is {this_machine()}, not {machine}"
    have = instructions()
    missing = sorted(set(wanted) - have) if have is not None else []
    return f"lacks {', '.join(missing)}" if missing else None
