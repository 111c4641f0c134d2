"""Makes the image of a model: the unit, a main program with the data, linked for the machine."""
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import elf, wasm
from .machines import PARTS, flags_that_a_unit_states

ROOT = Path(__file__).resolve().parents[3]
# No exceptions, run-time types and tables for unwinding: as firmware is built. Each function has a section, so that what is not called is left out.
USUAL = "-fno-exceptions -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -fno-pic"
CPP = "-std=c++20 -fno-rtti -fno-threadsafe-statics"
WARNINGS = "-Wall -Wextra -Werror"


class Failed(Exception):
    """A step of making or running an image failed; the text says which and how."""


def command(*words, limit=900):
    """Runs it; its standard output. `limit` in seconds."""
    words = [str(word) for part in words for word in (part.split() if isinstance(part, str) else [part] if isinstance(part, Path) else part)]
    try:
        run = subprocess.run(words, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failed(f"{words[0]}: not done after {limit} s") from None
    if run.returncode != 0:
        said = [line for line in (run.stderr + run.stdout).splitlines() if line.strip()]
        errors = [line for line in said if "error: " in line.lower() and "ld returned" not in line or "overflow" in line or "undefined" in line or "ld:" in line]
        raise Failed(f"{Path(words[0]).name}: {(errors or said or ['exit status %d' % run.returncode])[0][:300]}")
    return run.stdout


@dataclass
class Unit:
    """The sources of a model in C or C++, and the code that calls it."""
    source: Path
    glue: str  # of the generated program: `run_model` and `arena`
    arena: int  # bytes
    language: str = "c++"
    stack: int = 64 << 10  # bytes that it may have
    stack_bound: int | None = None  # bytes that it says it takes at most
    include: list = field(default_factory=list)


def onnxc_unit(onnxc, case, machine, level, folder, target=None, options=()):
    """What onnxc makes of it. `level`: O0 to O3 or Os, for onnxc and for the compiler."""
    source = folder / "unit.cpp"
    command(onnxc, case.model, f"--target={target or machine.name}", f"-{level}", [f"--dim={name}={extent}" for name, extent in case.dims.items()], list(options),
            "-o", source)
    stated = flags_that_a_unit_states(source.read_text(errors="replace"))
    if stated and set(stated.split()) != set(machine.flags.split()):
        raise Failed(f"the unit wants {stated}, and harness/machines.py has {machine.flags}")
    header = (folder / "unit.h").read_text()
    arena, bound = (re.search(rf"{name} = (\d+)", header) for name in ("arena_bytes", "stack_bytes"))
    memory = "unit::arenas_in(memory)" if "struct Arenas" in header else "memory"  # regions, in one block
    glue = f'''#include "unit.h"
namespace {{
alignas(unit::arena_alignment) std::byte memory[unit::arena_bytes];
const unit::Inputs in{{{", ".join(f"input_{k}" for k in range(len(case.inputs)))}}};
const unit::Outputs out{{{", ".join(f"output_{k}" for k in range(len(case.expected)))}}};
}}
extern "C" {{
const Bytes arena{{memory, sizeof memory}};
std::int32_t run_model() {{ return unit::run(in, out, {memory}).code; }}
}}
'''
    return Unit(source, glue, int(arena.group(1)), include=[ROOT / "runtime_stub"], stack_bound=int(bound.group(1)) if bound else None)


def c_type(array):
    return {"float32": "float", "float64": "double", "bool": "bool"}.get(array.dtype.name, f"std::{array.dtype.name}_t")


def literal(value):
    return float(value).hex() + "f" if isinstance(value, np.floating) else str(int(value))


def program(case, unit):
    """The generated part of an image: inputs, room for outputs, the call."""
    text = '#include <cstddef>\n#include <cstdint>\n#include "machine.h"\n'
    for k, array in enumerate(case.inputs):
        values = ", ".join(literal(v) for v in array.flatten())
        text += f"static constexpr {c_type(array)} input_{k}[{array.size}] = {{{values}}};\n"
    for k, array in enumerate(case.expected):
        text += f"static {c_type(array)} output_{k}[{array.size}];\n"
    text += unit.glue
    outputs = ", ".join(f"{{reinterpret_cast<std::byte*>(output_{k}), sizeof output_{k}}}" for k in range(len(case.expected)))
    return text + f'extern "C" {{\nconst Bytes outputs[] = {{{outputs}}};\nconst std::size_t output_count = {len(case.expected)};\n}}\n'


def build(case, machine, level, unit, folder):
    """Compiles and links; the image, and what the unit adds to it by kind of memory."""
    compiler = machine.compiler if unit.language == "c++" else machine.c_compiler
    include = [f"-I{path}" for path in [folder, PARTS, *unit.include]]
    language = CPP + " " + WARNINGS if unit.language == "c++" else "-std=c11"
    object_, assembly = folder / "unit.o", folder / "unit.s"
    as_object = ["-c", unit.source, "-o", object_]
    command(compiler, machine.flags, machine.more, USUAL, language, f"-{level} -fstack-usage", include, ["-S", unit.source, "-o", assembly] if machine.prelude else as_object)
    if machine.prelude:
        assembly.write_text(machine.prelude + assembly.read_text())
        command(compiler, machine.flags, machine.more, "-c", assembly, "-o", object_)
    (folder / "program.cpp").write_text(program(case, unit))
    parts = [object_]
    for source in (folder / "program.cpp", PARTS / "main.cpp", PARTS / f"{machine.kind}.cpp"):
        parts.append(folder / f"{source.stem}.o")
        command(machine.compiler, machine.flags, machine.more, USUAL, CPP, WARNINGS, "-O1", include, "-c", source, "-o", parts[-1])
    # By the compiler of C, whose command has no C++ library: a unit needs none.
    image = folder / "image"
    command(machine.c_compiler, machine.flags, machine.more, parts, "-Wl,--gc-sections", placement(machine, unit.stack), "-lm", "-o", image)
    return image, wasm.weigh(object_, image) if machine.kind == "wasm" else weigh(machine, folder, object_)


def placement(machine, stack):
    """What the linker is told of the machine's memories."""
    if machine.kind == "linux":
        return "-static"
    if machine.kind == "wasm":
        return "-nostartfiles -Wl,--no-entry,--export=measure,--stack-first,-z,stack-size=%d" % stack
    code, data = machine.code, machine.large if stack > machine.data[1] // 4 else machine.data
    places = {"CODE_ORIGIN": code[0], "CODE_SIZE": code[1], "DATA_ORIGIN": data[0], "DATA_SIZE": data[1], "STACK_SIZE": stack,
              "RESET_ORIGIN": code[0] if machine.reset is None else machine.reset, "FAST_ORIGIN": machine.fast[0], "FAST_SIZE": machine.fast[1],
              "SLOW_ORIGIN": machine.slow[0], "SLOW_SIZE": machine.slow[1]}
    return ["-nostartfiles", "-T", str(PARTS / "boards.ld"), *(f"-Wl,--defsym={name}={value:#x}" for name, value in places.items())]


def weigh(machine, folder, object_):
    """What of the unit remains once the linker has left out what the program does not call."""
    wanted = {symbol.name for symbol in elf.Elf(folder / "program.o").symbols() if symbol.section == 0 and symbol.name}
    entries = [symbol.name for symbol in elf.Elf(object_).symbols() if symbol.section != 0 and symbol.name in wanted]
    command(machine.c_compiler, machine.flags, machine.more if machine.kind == "linux" else "", "-r -nostdlib -Wl,--gc-sections", [f"-Wl,-u,{name}" for name in entries], object_, "-o", folder / "linked.o")
    return elf.weigh(folder / "linked.o")


def frames(folder, count=5):
    """The largest frames of the unit's functions: [[bytes, function]], by -fstack-usage."""
    lines = (line.rsplit("\t", 2) for line in (folder / "unit.su").read_text().splitlines())
    return sorted(([int(size), where.split(":", 3)[-1]] for where, size, _ in lines), reverse=True)[:count]
