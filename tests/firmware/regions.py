#!/usr/bin/env python3
"""Units with memories of several speeds, on emulated boards that have them: SSRAM, where a few kilobytes hold what is accessed most, and PSRAM at another address.

Results are right, the parts of the arena and the constants of the fast memory lie where they were put, and a run writes nothing beside its arenas.
The share of accesses that the fast memory serves, which onnxc estimates, is near the one that the emulator counts.
"""
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import elf, emulate, image, models
from harness.machines import MACHINES
from harness.measure import head, line, measured

ONNXC = Path(os.environ.get("ONNXC_EXECUTABLE", image.ROOT / "build/onnxc"))
REGIONS = ["--region=fast:8K:.fast", "--region=slow:128K"]
CASES = [(name, machine) for name in ("made_kws_int8", "mlperf_tiny_kws_int8") for machine in ("cortex-m3", "cortex-m4")]
CASES += [("mlperf_tiny_ic_fp32", "cortex-m4"), ("made_kws_fp32", "cortex-m4")]
OFF = 0.2  # of all accesses, by which an estimate may be wrong

GLUE = """#include "unit.h"
namespace {{
template <std::size_t bytes>
struct Guarded {{
  std::byte before[64];
  alignas(unit::arena_alignment) std::byte memory[bytes];
  std::byte behind[64];
  void paint() {{
    for (std::size_t i = 0; i < 64; ++i) before[i] = behind[i] = std::byte{{0xA5}};
    for (std::byte& b : memory) b = std::byte{{0xFF}};
  }}
  bool is_whole() const {{
    for (std::size_t i = 0; i < 64; ++i) {{
      if (before[i] != std::byte{{0xA5}} || behind[i] != std::byte{{0xA5}}) return false;
    }}
    return true;
  }}
}};
[[gnu::section(".arena_fast")]] Guarded<unit::fast_bytes> fast;
[[gnu::section(".arena_slow")]] Guarded<unit::slow_bytes> slow;
const unit::Inputs in{{{inputs}}};
const unit::Outputs out{{{outputs}}};
}}
extern "C" {{
const Bytes arena{{fast.memory, sizeof fast.memory}};
std::int32_t run_model() {{
  fast.paint();
  slow.paint();
  const std::int32_t code = unit::run(in, out, {{fast.memory, slow.memory}}).code;
  return code == 0 && !(fast.is_whole() && slow.is_whole()) ? 1000 : code;
}}
}}
"""


def options_for(case, machine):
    return [case.model, f"--target={machine.name}", "-Os", *(f"--dim={name}={extent}" for name, extent in case.dims.items()), *REGIONS]


def unit_of(case, machine, folder, less):
    """`less`: bytes that its header states too few for the slow memory."""
    source = folder / "unit.cpp"
    image.command(ONNXC, options_for(case, machine), "-o", source)
    header = (folder / "unit.h").read_text()
    (folder / "unit.h").write_text(header := re.sub(r"slow_bytes = (\d+)", lambda found: f"slow_bytes = {int(found[1]) - less}", header))
    fast, slow = (int(re.search(rf"{name}_bytes = (\d+)", header)[1]) for name in ("fast", "slow"))
    glue = GLUE.format(inputs=", ".join(f"input_{k}" for k in range(len(case.inputs))), outputs=", ".join(f"output_{k}" for k in range(len(case.expected))))
    return image.Unit(source, glue, fast + slow, include=[image.ROOT / "runtime_stub"])


def placed(machine, made):
    """What is wrong with where the sections of the image lie."""
    table = {words[1]: (int(words[2], 16), int(words[3], 16)) for words in map(str.split, image.command("arm-none-eabi-objdump -h", made).splitlines())
             if len(words) > 3 and words[0].isdigit()}
    for section, (origin, size) in {".fast": machine.fast, ".arena_fast": machine.fast, ".arena_slow": machine.slow}.items():
        bytes_, address = table.get(section, (0, 0))
        if bytes_ == 0 or not origin <= address <= origin + size - bytes_:
            return f"section {section}: {bytes_} bytes at {address:#x}"
    together = table[".fast"][0] + table[".arena_fast"][0] - 128  # without the margins
    return None if together <= 8192 else f"{together} bytes in 8K of fast memory"


def shares(case, machine, made):
    """Of the fast memory in all accesses to the arena and to constants: by estimate, and counted."""
    told = json.loads(image.command(ONNXC, "info", options_for(case, machine), "--json"))["regions"][0]["share"]
    # Objects of the unit, and its arenas; objects of the program are in no namespace.
    known = [symbol for symbol in elf.Elf(made).symbols() if symbol.type == elf.DATA_OBJECT and symbol.size and (
        symbol.name.startswith("_ZN4unit") or symbol.name == "unit_weights" or symbol.name in ("_ZN12_GLOBAL__N_14fastE", "_ZN12_GLOBAL__N_14slowE"))]
    fast = everything = 0
    for address, bytes_ in emulate.accesses(machine, made).items():
        if any(symbol.value <= address < symbol.value + symbol.size for symbol in known):
            everything += bytes_
            fast += bytes_ if machine.fast[0] <= address < sum(machine.fast) else 0
    return told, fast / everything


def check(job):
    case, machine, less = job
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        row = measured(case, machine, "Os", folder, lambda: unit_of(case, machine, folder, less))
        if "wrong" not in row and (wrong := placed(machine, folder / "image")):
            row["wrong"] = wrong
        if "wrong" not in row:
            row["shares"] = told, counted = shares(case, machine, folder / "image")
            if abs(told - counted) > OFF:
                row["wrong"] = f"the fast memory serves {counted:.0%} of the accesses, not {told:.0%}"
    return row


def main():
    folders = models.folders()
    jobs = [(models.case(folders[name]), MACHINES[machine], 0) for name, machine in CASES if name in folders and MACHINES[machine].missing() is None]
    if jobs and check((*jobs[0][:2], 64)).get("wrong") != "status 1000":
        raise SystemExit("a run that writes beside its arena is not seen")
    print(head(), flush=True)
    with ThreadPoolExecutor(int(os.environ.get("ONNXC_JOBS", os.cpu_count() or 1))) as pool:
        rows = []
        for row in pool.map(check, jobs):
            print(line(row), "" if "shares" not in row else "accesses in fast memory: {:.0%} by estimate, {:.0%} counted".format(*row["shares"]), flush=True)
            rows.append(row)
    return 0 if rows and not any("wrong" in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
