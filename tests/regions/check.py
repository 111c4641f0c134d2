#!/usr/bin/env python3
"""Networks with --region, built for this machine: made ones, and those of the zoo that are there.

  - results are right, and to the bit those of the unit without regions, from `run` and from the C interface with its one block;
  - a run writes nothing outside of the arenas, which lie between painted margins, and refuses one that is a byte too small or not aligned;
  - constants are in the sections that were named, and no memory holds more than it can;
  - what `onnxc info` tells of regions is what the header states.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS / "firmware")]
from harness import models  # noqa: E402
from harness.image import c_type, literal  # noqa: E402
from side_by_side import side_by_side  # noqa: E402

ONNXC = os.environ["ONNXC_EXECUTABLE"]
FLAGS = ["-std=c++20", "-O0", "-march=native", "-Wall", "-Wextra", "-Werror", "-I", str(TESTS.parent / "runtime_stub")]
NAMES = ["made_ad_fp32", "made_kws_int8", "made_ic_fp32", "made_ic_int8", "lenet5_digits", "mlperf_tiny_kws_int8", "churn_mlp"]
CONTROL_FLOW = ["cond_if"]  # of the zoo
# By the bytes of the arena without regions.
SPREADS = {
    "one": lambda arena: [("all", arena, "", False)],
    "two": lambda arena: [("fast", max(arena // 4, 64), ".fast", False), ("slow", arena, "", False)],
    "four": lambda arena: [("tcm", max(arena // 8, 64), ".tcm_data", False), ("sram", arena // 2, "", False), ("flash", 8192, ".iflash", True),
                           ("sdram", arena + (64 << 10), ".sdram", False)],
    "constants": lambda arena: [("iflash", 4096, ".iflash", True), ("qspi", 16 << 10, ".qspi", True)],
}
MORE = {"made_kws_int8": [(" on two threads", ["--threads=2", "--memory=min"], ["two"]), (" beside a string", ["--weights=string"], ["four"])]}
EVERY_SPREAD = ["made_kws_int8", "cond_if"]

MAIN = """#include <cstdio>
#include <cstring>
#include <onnxc/base.hpp>
#include <vector>

namespace {

/// Memory between painted margins.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : all_(bytes + 2 * kMargin, kPaint) {
    const auto address = reinterpret_cast<std::uintptr_t>(all_.data()) + 64;
    memory_ = std::span(all_).subspan(64 + (64 - address % 64) % 64, bytes);
    if (bytes != 0) std::memset(memory_.data(), 0xff, bytes);
  }
  std::span<std::byte> memory() const { return memory_; }
  bool is_whole() const {
    for (const std::byte& b : all_) {
      if ((&b < memory_.data() || &b >= memory_.data() + memory_.size()) && b != kPaint) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kMargin = 256;
  static constexpr std::byte kPaint{0xA5};
  std::vector<std::byte> all_;
  std::span<std::byte> memory_;
};

void print(const char* name, const void* data, std::size_t bytes) {
  std::printf("%s ", name);
  for (std::size_t i = 0; i < bytes; ++i) std::printf("%02x", static_cast<const unsigned char*>(data)[i]);
  std::printf("\\n");
}

bool expect(const char* what, bool holds) {
  if (!holds) std::printf("wrong %s\\n", what);
  return holds;
}

}  // namespace

"""


def fail(what):
    raise AssertionError(what)


def call(*words):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        wrong = [line for line in done.stdout.splitlines() if line.startswith("wrong ")]  # of a unit's program, whose outputs may be long
        fail(f"{Path(str(words[0])).name}: {(done.stderr + ('; '.join(wrong) or done.stdout))[:2000]}")
    return done.stdout


def main_program(case, parts):
    """Runs the unit in arenas of its own and in one block. `parts`: the names of the regions with a part of the arena; none: it is one arena."""
    text = '#include "unit.h"\n' + MAIN
    for k, array in enumerate(case.inputs):
        text += f"alignas(64) constexpr {c_type(array)} input_{k}[] = {{{', '.join(literal(v) for v in array.flatten())}}};\n"
    for k, array in enumerate(case.expected):
        text += f"alignas(64) {c_type(array)} output_{k}[{array.size}];\n"
    clear = "".join(f"  std::memset(output_{k}, 0xff, sizeof output_{k});\n" for k in range(len(case.expected)))
    show = lambda what: "".join(f'  print("{what}", output_{k}, sizeof output_{k});\n' for k in range(len(case.expected)))
    inputs, outputs = (", ".join(f"{name}_{k}" for k in range(len(arrays))) for name, arrays in (("input", case.inputs), ("output", case.expected)))
    text += f"int main() {{\n  bool fine = true;\n  const unit::Inputs in{{{inputs}}};\n  const unit::Outputs out{{{outputs}}};\n"
    sizes = {part: f"unit::{part}_bytes" for part in parts} or {"arena": "unit::arena_bytes"}
    for part, size in sizes.items():
        text += f"  const Guarded {part}({size});\n"
    arena = lambda changed="", by="": ("unit::Arenas{%s}" if parts else "%s") % ", ".join(f"{part}.memory(){by if part == changed else ''}" for part in sizes)
    text += clear + f'  fine &= expect("status", !unit::run(in, out, {arena()}));\n' + show("run")
    for part, size in sizes.items():
        text += f'  fine &= expect("bytes around {part}", {part}.is_whole());\n  if ({size} > 1) {{\n'
        text += f'    fine &= expect("refusal of a small {part}", unit::run(in, out, {arena(part, f".first({size} - 1)")}).code == ONNXC_SMALL_ARENA);\n'
        text += f'    const Guarded larger({size} + 64);\n'
        text += f'    fine &= expect("refusal of {part} where it is not aligned", unit::run(in, out, {arena(part, "").replace(f"{part}.memory()", "larger.memory().subspan(1)")}).code == ONNXC_MISALIGNED);\n  }}\n'
    text += clear + f"""  const Guarded block(unit::arena_bytes);
  const void* const inputs[] = {{{inputs}}};
  void* const outputs[] = {{{outputs}}};
  onnxc_call call{{}};
  call.inputs = inputs;
  call.outputs = outputs;
  call.arena = block.memory().data();
  call.arena_bytes = block.memory().size();
  fine &= expect("status of the C interface", unit_model()->run(&call) == 0);
  fine &= expect("bytes around the block", block.is_whole());
  fine &= expect("arena_bytes of the C interface", unit_model()->arena_bytes(nullptr) == unit::arena_bytes);
"""
    text += show("block")
    text += """  if (unit::arena_bytes > 1) {
    call.arena_bytes -= 1;
    fine &= expect("refusal of a small block", unit_model()->run(&call) == ONNXC_SMALL_ARENA);
  }
  return fine ? 0 : 1;
}
"""
    return text


def constant(header, name):
    found = re.search(rf"\b{name} = (\d+)", header) or fail(f"the header states no {name}")
    return int(found[1])


def section_bytes(object_, section):
    """Of one section."""
    table = call("objdump", "-h", object_)
    return sum(int(line.split()[2], 16) for line in table.splitlines() if len(line.split()) > 2 and line.split()[1] == section)


def results(case, folder, regions, options, spoil=None):
    """The outputs' bytes as text, of `run` and of the C interface; and the bytes of the arena. Checks what there is to check of the unit alone.
    `spoil` changes its header."""
    folder.mkdir(parents=True)
    options = [*options, *(f"--dim={name}={extent}" for name, extent in case.dims.items()),
               *(f"--region={name}:{size}{':' + section if section else ''}{':const' if const else ''}" for name, size, section, const in regions)]
    call(ONNXC, case.model, "-o", folder / "unit.cpp", *options)
    header = (folder / "unit.h").read_text()
    if spoil:
        (folder / "unit.h").write_text(header := spoil(header))
    parts = [name for name, _, _, const in regions if not const]
    (folder / "main.cpp").write_text(main_program(case, parts))
    for name in ("unit", "main"):
        call("g++", *FLAGS, "-I", folder, "-c", folder / f"{name}.cpp", "-o", folder / f"{name}.o")
    call("g++", folder / "main.o", folder / "unit.o", "-o", folder / "program")
    said = [line.split(" ", 1) for line in call(folder / "program").splitlines()]
    told = json.loads(call(ONNXC, "info", case.model, "--json", *options)).get("regions", [])
    for (name, size, section, const), region in zip(regions, told, strict=True):
        arena = 0 if const else constant(header, f"{name}_bytes")
        constants = section_bytes(folder / "unit.o", section) if section else 0
        if arena + constants > size:
            fail(f"{name} holds {arena} + {constants} bytes, more than {size}")
        if (region["name"], region["capacity"], region["bytes"]) != (name, size, arena) or constants > region["constant_bytes"] or (constants == 0) != (region["constant_bytes"] == 0):
            fail(f"info says {region}; there are {arena} + {constants} bytes")
    if told and not 0 < sum(region["share"] for region in told) <= 1 + 1e-9:
        fail(f"shares of accesses: {[region['share'] for region in told]}")
    arena = constant(header, "arena_bytes")
    if parts and arena != sum(constant(header, f"{name}_bytes") for name in parts) and spoil is None:
        fail("arena_bytes are not those of all regions")
    return [value for what, value in said if what == "run"], [value for what, value in said if what == "block"], arena, told


def check(job):
    """Lines that tell of a case with some options, spread in these ways, and whether all is right."""
    case, more, options, spreads = job
    lines, fine, title = [], True, ""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        try:
            title = f"{case.name}{more}"
            run, block, arena, _ = results(case, folder / "without", [], options)
            outputs = [np.frombuffer(bytes.fromhex(text), expected.dtype).reshape(expected.shape) for text, expected in zip(run, case.expected, strict=True)]
            if wrong := case.error(outputs):
                fail(wrong)
            for spread in spreads:
                title = f"{case.name}{more}, {spread}"
                with_run, with_block, parts, told = results(case, folder / spread, SPREADS[spread](arena), options)
                if with_run != run or with_block != run or block != run:
                    fail("the bits are others than without regions")
                share = ", ".join(f"{region['name']} {100 * region['share']:.0f} %" for region in told)
                lines.append(f"{title}: arena {parts} bytes, {arena} in one block; accesses in {share}")
        except AssertionError as failure:
            lines.append(f"FAILED  {title}: {failure}")
            fine = False
    return lines, fine


def with_first_data(folder):
    """A case with the first data set, whatever its sizes. Where case.json names no tolerance it is that of `onnxc run`."""
    model, told, data = onnx.load(str(folder / "model.onnx")), json.loads((folder / "case.json").read_text()), sorted(folder.glob("test_data_set_*"))[0]
    inputs, outputs = ([models.read(path) for path in sorted(data.glob(f"{kind}_*.pb"))] for kind in ("input", "output"))
    return models.Case(folder.name, folder / "model.onnx", inputs, outputs, models.named_dims(model.graph, inputs), 0, False,
                       {"rtol": told.get("rtol", 1e-3), "atol": told.get("atol", 1e-5)})


def a_small_arena_is_seen(case):
    """Where the header states too few bytes, a run writes into the margin."""
    less = lambda header: re.sub(r"slow_bytes = (\d+)", lambda found: f"slow_bytes = {int(found[1]) - 64}", header)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            results(case, Path(scratch) / "spoilt", SPREADS["two"](80_000), [], less)
        except AssertionError as failure:
            return "wrong bytes around slow" in str(failure)
    return False


def main():
    zoo = Path(os.environ["ONNXC_CACHE"]) / "zoo"
    folders = models.folders()
    cases = [models.case(folders[name]) for name in NAMES if name in folders]
    cases += [with_first_data(zoo / name) for name in CONTROL_FLOW if (zoo / name / "case.json").exists()]
    jobs = [(case, "", [], list(SPREADS) if case.name in EVERY_SPREAD else ["two", "four"]) for case in cases]
    jobs += [(case, *more) for case in cases for more in MORE.get(case.name, [])]
    fine = a_small_arena_is_seen(next(case for case in cases if case.name == "made_kws_int8"))
    if not fine:
        print("FAILED  an arena that is too small is not seen")
    for lines, right in side_by_side(check, jobs):
        print("\n".join(lines), flush=True)
        fine &= right
    return 0 if fine and jobs else 1


if __name__ == "__main__":
    sys.exit(main())
