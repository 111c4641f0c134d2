#!/usr/bin/env python3
"""Units on microcontrollers beside what emx-onnx-cgen makes of the same models: instructions, code, memory, in one harness (tests/firmware), by one compiler.

  bench/firmware.py [--models NAME,...] [--out FOLDER] [--page docs/performance-firmware.md]
  bench/firmware.py --from FOLDER/results.json --page docs/performance-firmware.md

Real models where the zoo has them, else networks of the same shapes. $EMX_ONNX_CGEN is the peer's command, by default that of tools/setup.sh --bench-deps; without it
its columns are left out. Counts are exact, so one run tells all.
"""
import argparse
import datetime
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/firmware")]
from harness import golden, image, measure, models  # noqa: E402
from harness.machines import MACHINES  # noqa: E402
from machine import commit, first_line  # noqa: E402

CORES, LEVELS = ["cortex-m4", "cortex-m55"], ["O3", "Os"]
# The peer has all temporaries on the stack, weights as floats among them. No microcontroller has as much; the board's largest memory does.
PEER_STACK = 12 << 20


def emx_command():
    command = os.environ.get("EMX_ONNX_CGEN", f"{os.environ.get('ONNXC_BENCH_VENV', '')}/bin/emx-onnx-cgen")
    return command if Path(command).exists() else None


def emx_version(command):
    """As its package states it."""
    return first_line(str(Path(command).parent / "python"), "-c", "import importlib.metadata as m; print('emx-onnx-cgen', m.version('emx-onnx-cgen'))")


def emx_source(command, case, folder):
    """Plain C by emx-onnx-cgen, without a heap and with weights in the file, as firmware needs them: the same for every core."""
    folder.mkdir(parents=True, exist_ok=True)
    image.command(command, "compile", case.model, folder / "unit.c", "--model-name unit --large-temp-threshold 0 --large-weight-threshold 0",
                  [word for name, extent in case.dims.items() for word in ("--input-dim", f"{name}={extent}")])
    return folder / "unit.c"


def emx_unit(made, case):
    """`made`: a future of the source, since another thread may have made it or failed to."""
    source = made.result()
    arguments = [f"input_{k}" for k in range(len(case.inputs))] + [f"output_{k}" for k in range(len(case.expected))]
    signature = re.search(r"^void unit\(([^{]*)\) \{", source.read_text(), re.M).group(1)
    if signature.count("[restrict ") != len(arguments):
        raise image.Failed(f"emx-onnx-cgen's function takes ({signature})")
    types = ", ".join(["const void*"] * len(case.inputs) + ["void*"] * len(case.expected))
    glue = f'''extern "C" {{
void unit({types});
const Bytes arena{{nullptr, 0}};
std::int32_t run_model() {{
  unit({", ".join(arguments)});
  return 0;
}}
}}
'''
    return image.Unit(source, glue, 0, "c", stack=PEER_STACK)


def ram(row):
    return row["arena"] + row["stack"] + row["data"] + row["bss"]


def measure_all(cases, emx, work, jobs):
    """{"MODEL MACHINE LEVEL": {"onnxc": row, "emx": row}}."""
    onnxc, sources = Path(os.environ.get("ONNXC_EXECUTABLE", ROOT / "build/onnxc")), {}

    def one(job):
        engine, case, core, level = job
        machine, folder = MACHINES[core], work / "-".join((engine, case.name, core, level))
        if engine == "onnxc":
            row = measure.measure(onnxc, case, machine, level, folder)
        else:
            row = measure.measured(case, machine, level, folder, lambda: emx_unit(sources[case.name], case))
        print(f"{engine:<6}{measure.line(row)}", file=sys.stderr, flush=True)
        return f"{case.name} {core} {level}", engine, row

    jobs_ = [(engine, case, core, level) for case in cases for core in CORES for level in LEVELS for engine in (["onnxc", "emx"] if emx else ["onnxc"])]
    rows = {}
    with ThreadPoolExecutor(jobs) as pool:
        if emx:
            sources |= {case.name: pool.submit(emx_source, emx, case, work / f"emx-{case.name}") for case in cases}
        for key, engine, row in pool.map(one, jobs_):
            rows.setdefault(key, {})[engine] = row
    return rows


def figure(row, of):
    """The figure of a row as text; a dash where there is none, in brackets where the result is wrong."""
    if row is None or "stack" not in row:
        return "–"
    value = of(row)
    text = "–" if value is None else f"{value:.2f}" if isinstance(value, float) else f"{value / 1024:.1f}"
    return f"({text})" if "wrong" in row else text


def goals(rows, names, engine):
    """The table of the four tasks."""
    per_mac, at = measure.per_mac, lambda name, core, level: rows.get(f"{name} {core} {level}", {}).get(engine)
    text = "| | float, M4F | int8, M4F | int8, M55 | code at -Os, float | code at -Os, int8 | stack, float | stack, int8 | arena, float | arena, int8 |\n|---|" + "--:|" * 9 + "\n"
    for task in ("ad", "ic", "kws", "vww"):
        of = {form: next((name for name in names if name.endswith(f"{task}_{form}") and not name.startswith("emx")), None) for form in ("fp32", "int8")}
        f, i = of["fp32"], of["int8"]
        cells = [figure(at(f, "cortex-m4", "O3"), per_mac), figure(at(i, "cortex-m4", "O3"), per_mac), figure(at(i, "cortex-m55", "O3"), per_mac)]
        cells += [figure(at(name, "cortex-m4", level), lambda row, key=key: row[key]) for key, level in (("text", "Os"), ("stack", "O3"), ("arena", "O3")) for name in (f, i)]
        text += f"| {task} | " + " | ".join(cells) + " |\n"
    return text


def beside(rows, names, core, level):
    """All models, both engines."""
    text = ("| model | instructions a multiply-add | emx | ratio | code, KiB | emx | RAM, KiB | emx | flash, KiB | emx |\n|---|" + "--:|" * 9 + "\n")
    flash = lambda row: row["text"] + row["rodata"] + row["weights"] + row["data"]
    for name in names:
        pair = rows.get(f"{name} {core} {level}", {})
        ours, peer = pair.get("onnxc"), pair.get("emx")
        ratio = f"{peer['instructions'] / ours['instructions']:.1f}" if ours and peer and ours.get("instructions") and peer.get("instructions") else "–"
        cells = [figure(ours, measure.per_mac), figure(peer, measure.per_mac), ratio]
        for of in (lambda row: row["text"], ram, flash):
            cells += [figure(ours, of), figure(peer, of)]
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    return text


def page(results):
    rows, names = results["rows"], results["models"]
    text = f"""# Performance in firmware

Made by `bench/firmware.py`; do not edit. Instructions are counted by a plugin of QEMU between the call of a unit and its return, and divided by the multiply-adds of the model, whatever a compiler
makes of these. Counts tell nothing of waiting for memory or of instructions that take several cycles. Code is what the unit adds to an image once the linker has left out what is not called;
the stack is painted before the run. Measured {results['date']}, commit {results['commit']}, {results['compiler']}, {results['emulator']}.

`-O3` and `-Os` are onnxc's options and the compiler's at once. Figures in brackets are of results that are wrong, and a dash says that there is none.

## The four of MLPerf Tiny

Instructions a multiply-add at -O3; code, stack and arena on a Cortex-M4F in KiB, the latter two at -O3.

{goals(rows, names, "onnxc")}"""
    if results["emx"]:
        text += f"\nThe same of {results['emx']}, whose temporaries are all on the stack:\n\n{goals(rows, names, 'emx')}"
    for core in CORES:
        for level in LEVELS:
            text += f"\n## {MACHINES[core].name.replace('cortex-m', 'Cortex-M')}, -{level}\n\nRAM is arena, stack and variables. The ratio is of instructions: above 1, onnxc takes fewer.\n\n{beside(rows, names, core, level)}"
    failures = [f"- {key}, {engine}: {row['wrong']}" for key, pair in rows.items() for engine, row in pair.items() if "wrong" in row]
    if failures:
        text += "\n## What is wrong or did not run\n\n" + "\n".join(failures) + "\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="names of models, or how they begin")
    parser.add_argument("--out", type=Path, help="a folder for results.json")
    parser.add_argument("--from", dest="old", type=Path, metavar="RESULTS", help="shows what was measured before")
    parser.add_argument("--page", type=Path, help="writes the page there; else to standard output")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("ONNXC_JOBS", os.cpu_count() or 1)))
    options = parser.parse_args()
    if options.old:
        results = json.loads(options.old.read_text())
    else:
        folders, emx = models.folders(), emx_command()
        names = [name for name in models.FOURTEEN if name in folders] or models.MADE
        if options.models:
            names = [name for name in folders if any(name.startswith(word) for word in options.models.split(","))]
        with tempfile.TemporaryDirectory() as work:
            rows = measure_all([models.case(folders[name]) for name in names], emx, Path(work), options.jobs)
        results = {"date": f"{datetime.date.today()}", "commit": commit(), "compiler": golden.compiler(MACHINES[CORES[0]]), "emulator": first_line("qemu-system-arm", "--version"),
                   "emx": emx and emx_version(emx), "models": names, "rows": rows}
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    if options.page:
        options.page.write_text(page(results))
    else:
        print(page(results))


if __name__ == "__main__":
    main()
