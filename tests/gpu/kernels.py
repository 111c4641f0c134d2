#!/usr/bin/env python3
"""What nvcc made of a unit's kernels, a line for each: unit, architecture, registers, bytes of shared memory, threads, kernel.

    kernels.py UNIT ARCHITECTURE REPORT PTX OBJECT

REPORT is what ptxas -v said. Where a kernel keeps registers or arrays in memory, or multiplies matrices without tensor cores, it says so and fails.
Reference kernels, which `each` calls, may have arrays in memory: they index some that are small.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

unit, architecture, report, ptx, compiled = sys.argv[1:]


def demangled(names):
    return subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines()


def short(name):
    """(kernel, threads, bytes) of `void onnxc::ISA::gpu::entry<KERNEL, THREADS, BYTESul>(KERNEL)`."""
    whole = re.fullmatch(r"void (?:\w+::)*entry<(.*), (\d+), (\d+)ul>\(.*\)", name)
    if whole is None:
        sys.exit(f"not a kernel of onnxc: {name}")
    kernel = re.sub(r"\(anonymous namespace\)::|\b(?:onnxc|gpu|detail|test|contract|base_\w+|[a-z0-9_]*_x\d+)::", "", whole[1])
    return kernel.replace(" >", ">"), int(whole[2]), int(whole[3])


def functions_of(text, head):
    """The text of each function, by its mangled name."""
    parts = re.split(head, text)
    return dict(zip(parts[1::2], parts[2::2]))


def machine_code():
    """Functions and what a product on tensor cores is called in them: of SASS, where there is cuobjdump, or of PTX."""
    tool = shutil.which("cuobjdump") or next((str(p / "nvidia/cuda_cuobjdump/bin/cuobjdump") for p in map(Path, sys.path)
                                              if (p / "nvidia/cuda_cuobjdump/bin/cuobjdump").exists()), None)
    if tool is not None:
        text = subprocess.run([tool, "-sass", compiled], capture_output=True, text=True, check=True).stdout
        return functions_of(text, r"Function : (\S+)"), r"\b[HI]MMA\b"
    return ptx_of, r"\bmma\.sync\b"


def arrays_allowed(kernel, text):
    """Reference kernels have arrays, and so has CUDA's sine of large numbers, which reads 2/pi from a table."""
    return kernel.startswith("Each<") or "__cudart_i2opi" in text


found = re.findall(r"Compiling entry function '(\S+)' for '\w+'.*?\n(.*?)(?=ptxas info\s+: Compiling entry|\Z)", Path(report).read_text(), re.S)
names = demangled([mangled for mangled, _ in found])
ptx_of = functions_of(Path(ptx).read_text(), r"\.entry (\w+)\(")
code, product = machine_code()
faults = []
rows = []
for (mangled, said), name in zip(found, names):
    kernel, threads, shared = short(name)
    registers = re.search(r"Used (\d+) registers", said)[1]
    if re.search(r"[1-9]\d* bytes " + ("spill" if arrays_allowed(kernel, ptx_of[mangled]) else "(stack frame|spill)"), said):
        faults.append(f"{architecture}: keeps registers in memory: {kernel}")
    if re.match(r"(MatrixProduct|Attention)<", kernel) and not re.search(product, code[mangled]):
        faults.append(f"{architecture}: no tensor cores: {kernel}")
    rows.append(f"{unit} {architecture} {registers:>3} {shared:>6} {threads:>4} {kernel}")
print("\n".join(faults or rows))
sys.exit(bool(faults))
