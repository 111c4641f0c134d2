"""Large models: what onnxc takes of memory, and whether the units are right.

    check.py [--all] [--folder DIR] [--only NAME]      with $ONNXC_EXECUTABLE

Models are made layer by layer with external data (make_model.py). onnxc may take little memory of its own beside what files hold, for each way of weights;
a unit's results are compared with numpy's. A quick run has some hundred megabytes; --all has weights of 2.5 to 6 GB, which no 32-bit distance
reaches, and skips what disk or memory are too small for. Where external data becomes shorter while it is read, one line has to say so.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import make_model
import measure

ROOT = Path(__file__).resolve().parents[2]
ONNXC = os.environ["ONNXC_EXECUTABLE"]
COMPILER = os.environ.get("ONNXC_CXX") or os.environ.get("CXX") or "c++"
# What onnxc may hold, of the weights and beside them: a weight or two, and what it takes for any model.
MOST_PRIVATE, MOST_RESIDENT, BESIDE = 0.25, 0.5, 48 << 20


@dataclass
class Case:
    name: str
    kind: str
    size: int
    way: str  # of --weights
    runs: bool = False
    large: bool = False
    width: int | None = None
    most_resident: float = MOST_RESIDENT


CASES = [
    Case("f32", "f32", 256_000_000, "file", runs=True),
    Case("f32", "f32", 256_000_000, "object"),
    Case("f32-64", "f32", 64_000_000, "asm"),
    Case("f32-64", "f32", 64_000_000, "string"),
    Case("f16", "f16", 128_000_000, "file", runs=True),
    Case("int8", "int8", 64_000_000, "file"),
    Case("int4", "int4", 64_000_000, "file"),
    Case("f32-2.5", "f32", 2_500_000_000, "file", runs=True, large=True),
    Case("f32-2.5", "f32", 2_500_000_000, "auto", runs=True, large=True),
    Case("f16-3", "f16", 3_000_000_000, "file", runs=True, large=True),
    Case("f32-6", "f32", 6_000_000_000, "file", runs=True, large=True),
    Case("f32-6", "f32", 6_000_000_000, "auto", runs=True, large=True),
]

MAIN = """
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include "unit.h"
int main(int argc, char** argv) {
  const auto begin = std::chrono::steady_clock::now();
#ifdef WEIGHTS_FILE
  const int file = open(argv[1], O_RDONLY);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) return 2;
  unit::unit_weights = static_cast<const std::byte*>(mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0));
#endif
  std::int64_t ids[8];
  TYPE y[8 * 64];
  for (int i = 0; i < 8; ++i) ids[i] = i * 509 % 4096;
  void* const arena = std::aligned_alloc(64, (unit::arena_bytes + 63) / 64 * 64);
  const auto started = std::chrono::steady_clock::now();
  if (unit::run({.ids = ids}, {.y = y}, {static_cast<std::byte*>(arena), unit::arena_bytes})) return 1;
  const auto ended = std::chrono::steady_clock::now();
  const auto ms = [](auto d) { return std::chrono::duration<double, std::milli>(d).count(); };
  std::fprintf(stderr, "%.1f ms to be ready, %.0f ms for the first run\\n", ms(started - begin), ms(ended - started));
  std::fwrite(y, sizeof(TYPE), 8 * 64, stdout);
  return argc == 0;
}
"""


def room(folder):
    free = shutil.disk_usage(folder).free
    with open("/proc/meminfo") as info:
        available = next(int(line.split()[1]) * 1024 for line in info if line.startswith("MemAvailable"))
    return free, available


def run_unit(folder, case, model):
    """What is wrong with the unit's results, or what is to be told of them."""
    kind = "onnxc::float16" if case.kind == "f16" else "float"
    (folder / "main.cpp").write_text(MAIN)
    objects = [str(p) for p in folder.glob("unit.weights.o")]
    built = measure.run([COMPILER, "-std=c++20", "-O2", "-march=native", f"-I{ROOT / 'runtime_stub'}", f"-I{folder}", f"-DTYPE={kind}",
                         *(["-DWEIGHTS_FILE"] if case.way == "file" else []), str(folder / "main.cpp"), str(folder / "unit.cpp"), *objects,
                         "-o", str(folder / "program")])
    if built.status != 0:
        return f"the unit is not built: {built.output[-2000:]}", ""
    told, values = [], None
    for _ in range(2):
        done = subprocess.run([str(folder / "program"), str(folder / "unit.weights.bin")], capture_output=True)
        if done.returncode != 0:
            return f"the program ends with {done.returncode}", ""
        told.append(done.stderr.decode().strip())
        values = np.frombuffer(done.stdout, np.float16 if case.kind == "f16" else np.float32).reshape(make_model.ROWS, make_model.RESULTS)
    expected = make_model.expected(model)
    error = float(np.abs(values.astype(np.float32) - expected).max() / np.abs(expected).max())
    # Rounding of each of many layers: f16 results have 11 bits, and sums of products in f32 keep some 20.
    allowed = 2e-2 if case.kind == "f16" else 2e-4
    note = f"error {error:.1e}, linked in {built.seconds:.0f} s; {told[0]}, then {told[1]}"
    return (f"results are wrong: {note}", "") if not error < allowed else ("", note)


def check(case, work):
    model = str(work / f"{case.name}.onnx")
    needed = case.size * (2 if not case.large else 4)  # the model, what onnxc writes, a temporary file, a program
    free, available = room(work)
    if not os.path.exists(model + ".data"):
        if free < needed or (case.large and available < case.size):
            print(f"skipped {case.name}, {case.way}: {free >> 20} MiB of disk and {available >> 20} MiB of memory are too few", flush=True)
            return True
        # In a process of its own: what is started from here would count this one's memory as its own.
        subprocess.run([sys.executable, make_model.__file__, model, str(case.size), "--type", case.kind], check=True, stdout=subprocess.DEVNULL)
    size = os.path.getsize(model + ".data")
    folder = work / "unit"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    taken = measure.run([ONNXC, model, f"--weights={case.way}", "-o", str(folder / "unit.cpp"), "--target=native"])
    wrong, note = "", ""
    if taken.status != 0:
        wrong = f"exit status {taken.status}: {taken.output[-500:]}"
    elif taken.private > MOST_PRIVATE * size + BESIDE:
        wrong = f"onnxc held more than {MOST_PRIVATE} times the weights"
    elif taken.resident > case.most_resident * size + BESIDE:
        wrong = f"onnxc and the files that it read took more than {case.most_resident} times the weights"
    elif case.runs:
        wrong, note = run_unit(folder, case, model)
    print(f"{'FAILED' if wrong else 'ok':<7} {case.name}, --weights={case.way}: {size / 1e6:.0f} MB of weights; resident {taken.resident / 1e6:.0f} MB, "
          f"private {taken.private / 1e6:.0f} MB, {taken.seconds:.1f} s{'; ' if wrong or note else ''}{wrong}{note}", flush=True)
    shutil.rmtree(folder)
    return not wrong


def check_shrinking(work):
    """External data that becomes shorter once it is mapped: an error as any other, whether onnxc or the system reads it first."""
    library = work / "shrink.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", str(ROOT / "tests/large/shrink.c"), "-o", str(library), "-ldl"], check=True)
    ok = True
    for to, names_file in ((0, False), (9_000_000, True)):  # 9 MB: the table is still there, which is written as it is
        model, out = work / "shrinks.onnx", work / f"shrunken{to}"
        make_model.make(str(model), 16_000_000)
        out.mkdir()
        done = subprocess.run([ONNXC, str(model), "-o", str(out / "unit.cpp"), "--weights=file"], capture_output=True, text=True,
                              env={**os.environ, "LD_PRELOAD": str(library), "SHRINK": f"{model}.data", "SHRINK_TO": str(to)})
        lines, left = done.stderr.strip().splitlines(), list(out.iterdir())
        right = done.returncode == 3 and len(lines) == 1 and "has become shorter meanwhile" in lines[0] and not left
        right &= not names_file or "shrinks.onnx.data" in lines[0]
        print(f"{'ok' if right else 'FAILED':<7} external data that shrinks to {to} bytes: status {done.returncode}, {done.stderr.strip()!r}, left: {left}", flush=True)
        ok &= right
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--folder", help="where models are made, and stay")
    parser.add_argument("--only", default="")
    a = parser.parse_args()
    ok = True
    with tempfile.TemporaryDirectory(dir=a.folder) as scratch:
        work = Path(a.folder or scratch)
        names = [c.name for c in CASES]
        for i, case in enumerate(CASES):
            if (case.large and not a.all) or a.only not in f"{case.name}-{case.way}":
                continue
            ok &= check(case, work)
            if not a.folder and case.name not in names[i + 1:]:
                for file in work.glob(f"{case.name}.onnx*"):
                    file.unlink()
        if not a.only:
            ok &= check_shrinking(Path(scratch))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
