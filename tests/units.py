"""Sessions of many small models, whose units are built together: of what the system's compiler does for one of them, most is to read the runtime's headers.

    def judge(case, session): ...          # what is wrong with it, or nothing

    for fault in judged_in_groups(cases, lambda case: [Unit(case.model)], judge): ...

Units are built with -O0, or with what $ONNXC_UNITS_LEVEL says: what is tested so are shapes, values and the steps that lowering chooses, whose text is the same at any level, and
-O1 takes the compiler four times as long. What it makes of kernels at -O1 show the kernels' own tests, a part of ONNX's backend tests and tests/numerics, at -O3 whole networks and the checks that
build each model alone.

A unit that does not compile is told of by its own CompileError, with what the compiler said, and fails no other of its group. What did not change is not built again.
"""
import functools
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile
import warnings
from typing import NamedTuple

import onnxc
from onnxc import build
from side_by_side import side_by_side

FLAGS = ["-std=c++20", "-fPIC", "-shared", os.environ.get("ONNXC_UNITS_LEVEL", "-O0"), "-w"]
RUNTIME = pathlib.Path(os.environ.get("ONNXC_RUNTIME_DIR") or pathlib.Path(__file__).resolve().parents[1] / "runtime_stub")


@functools.lru_cache(maxsize=None)
def catalogue():
    """The names of all kernels; other steps are bookkeeping."""
    rows = (pathlib.Path(__file__).resolve().parents[1] / "targets" / "kernels").glob("*.inc")
    return set(re.findall(r'\.name = "(\w+)"', "".join(path.read_text() for path in rows)))


class Unit(NamedTuple):
    model: object  # onnx.ModelProto
    options: tuple = ()  # of onnxc
    threads: int = 1


class Source(NamedTuple):
    """What onnxc made of a Unit."""

    name: str
    files: dict  # by name: bytes
    march: tuple[str, ...]  # what g++ is to be told of the machine
    threads: int

    def kernels(self):
        """Names of the kernels that its steps call, as the unit's first lines tell them."""
        steps = self.files[f"{self.name}.cpp"].decode().partition("\n// Steps: ")[2].partition("\n\n")[0]
        return set(re.findall(r"^// +\d+  (\w+) ", steps, re.MULTILINE)) & catalogue()


def emit(unit, name):
    """A Source, or the CompileError."""
    with tempfile.TemporaryDirectory() as work:
        model = os.path.join(work, "model.onnx")
        pathlib.Path(model).write_bytes(unit.model.SerializeToString())
        out = pathlib.Path(work, "out")
        out.mkdir()
        command = [build.find_executable(), model, "-o", str(out / f"{name}.cpp"), "--threads", str(unit.threads), *unit.options]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode:
            return onnxc.CompileError(done.stderr.strip() or f"{command[0]}: exit status {done.returncode}", done.returncode)
        target = next((option.split("=")[1] for option in unit.options if option.startswith("--target=")), "native")
        machine = target.split("+")[-1].replace("generic", "")  # the processor beside a GPU, which is emulated
        machine = "native" if machine.startswith("cuda") else machine
        march = ("-march=x86-64-v4", "-mavx512vnni", "-mavx512bf16") if machine.startswith("zen") else (f"-march={machine}",) if machine else ()
        return Source(name, {path.name: path.read_bytes() for path in sorted(out.iterdir())}, march, unit.threads)


def compiler():
    return os.environ.get("ONNXC_CXX") or os.environ.get("CXX") or "c++"


@functools.lru_cache(maxsize=None)
def tools_digest():
    """Changes with the compiler, with the machine that -march=native means, and with the runtime's headers."""
    digest = hashlib.sha256(subprocess.run([compiler(), "--version"], stdout=subprocess.PIPE, check=True).stdout + build._processor().encode())
    for header in sorted((RUNTIME / "onnxc").rglob("*.h*")):
        digest.update(str(header).encode() + header.read_bytes())
    return digest.digest()


def library_of(sources):
    """The path of a library with these units, which are for one machine. Throws CompileError."""
    files = {name: content for source in sources for name, content in source.files.items()}
    beside = ["memory"] + ["executor"] * any(source.threads > 1 for source in sources)  # what sessions need of a library
    files["group.cpp"] = "".join([f'#include "{source.name}.cpp"\n' for source in sources] + [f"#include <onnxc/shared_{name}.hpp>\n" for name in beside]).encode()
    flags = [*FLAGS, *sources[0].march]
    digest = hashlib.sha256(repr((compiler(), flags)).encode() + tools_digest())
    for name, content in sorted(files.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    folder = build._cache_folder() / digest.hexdigest()[:32]
    library = folder / "group.so"
    if library.exists():
        os.utime(library)
        return str(library)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        for name, content in files.items():
            pathlib.Path(work, name).write_bytes(content)
        objects = [name for name in files if name.endswith(".o")]
        command = [compiler(), *flags, f"-I{RUNTIME}", "group.cpp", *objects, "-o", "made.so"]
        done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode:
            errors = re.findall(r"^.*(?:error: |undefined reference).*$", done.stderr, re.MULTILINE) or [done.stderr]
            raise onnxc.CompileError("the C++ does not compile: " + " ".join(errors)[:400], done.returncode)
        os.replace(pathlib.Path(work, "made.so"), library)  # whole or not at all
    build._prune(build._cache_folder(), build.CACHE_LIMIT)
    return str(library)


def build_sources(sources):
    """For each, its library or the CompileError. Where all together do not compile, each alone says whose fault it is; where it is nobody's, it is everybody's."""
    try:
        return [library_of(sources)] * len(sources)
    except onnxc.CompileError as error:
        if len(sources) == 1:
            return [error]
        alone = [build_sources([source])[0] for source in sources]
        return alone if any(isinstance(library, Exception) for library in alone) else [error] * len(sources)


warnings.filterwarnings("ignore", message="this runs in onnxc's emulator of GPUs")


def sessions(units):
    """For each Unit an onnxc.InferenceSession, or the CompileError."""
    results = [emit(unit, f"unit{i}") for i, unit in enumerate(units)]
    for march in {source.march for source in results if isinstance(source, Source)}:
        chosen = [i for i, source in enumerate(results) if isinstance(source, Source) and source.march == march]
        for i, library in zip(chosen, build_sources([results[i] for i in chosen])):
            results[i] = library if isinstance(library, Exception) else onnxc.InferenceSession(library, threads=units[i].threads, namespace=f"unit{i}")
    return results


def in_groups(items, wanted, most):
    """Neighbours together, since they use the same kernels: lists of (item, its Units), with so many Units at most where an item has not more."""
    group, count = [], 0
    for item in items:
        units = wanted(item)
        if group and count + len(units) > most:
            yield group
            group, count = [], 0
        group.append((item, units))
        count += len(units)
    if group:
        yield group


def judged_in_groups(items, wanted, judge, of=32):
    """What judge(item, *sessions) says of each item, in order, with the session, or the CompileError, of each Unit in wanted(item); groups of `of` Units."""

    def judge_group(group):
        made = iter(sessions([unit for _, units in group for unit in units]))
        return [judge(item, *[next(made) for _ in units]) for item, units in group]

    for verdicts in side_by_side(judge_group, in_groups(items, wanted, of)):
        yield from verdicts
