"""Emitted units by the rules, with their memory plans: of the samples, of ONNX's backend tests, and of the zoo where it is.

Most of a small unit's check is reading the runtime's headers, so many units are read as one translation unit, each from its own file, as onnxc writes it for users.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from side_by_side import side_by_side  # noqa: E402

FEW = ("churn_mlp", "lenet5_digits_qdq", "mlperf_tiny_kws_fp32", "mlperf_tiny_kws_int8", "lightgbm_clf", "loop_scan", "tfidf_text", "gpt2_mini_kv", "silero_vad", "ultraface_rfb_320")
SAMPLE = 24  # by default one of so many backend tests
TOGETHER, BYTES_TOGETHER = 48, 1 << 20  # models in a group, and bytes of their files


class Model(NamedTuple):
    name: str  # a namespace of C++
    path: Path
    options: tuple = ()


class Outcome(NamedTuple):
    """What became of a group of models."""

    units: int
    pointers: int  # into arenas
    compared: int  # operands of kernels with the extents that calls state of them
    operands: int
    broken: list  # (unit, what its line says)
    refused: list  # (unit, what onnxc said)
    left_out: list  # (unit, the header that is not installed)


NONE = Outcome(0, 0, 0, 0, [], [], [])


def models(all_of_them):
    cache = Path(os.environ["ONNXC_CACHE"])
    digits = ROOT / "samples/digits/digits.onnx"
    yield Model("digits", digits)
    yield Model("digits_with_a_self_test", digits, ("--self-test",))
    for path in sorted(cache.glob(f"conformance-{os.environ['ONNX_VERSION']}/*/*/model.onnx")):
        if all_of_them or zlib.crc32(path.parent.name.encode()) % SAMPLE == 0:
            yield Model(re.sub(r"\W", "_", f"{path.parts[-3]}_{path.parent.name}"), path)
    for path in sorted(cache.glob("zoo/*/model.onnx")):
        if all_of_them or path.parent.name in FEW:
            yield Model("zoo_" + path.parent.name, path)


def in_groups(all_models):
    group, size = [], 0
    for model in all_models:
        own = model.path.stat().st_size
        if group and (len(group) == TOGETHER or size + own > BYTES_TOGETHER):
            yield group
            group, size = [], 0
        group.append(model)
        size += own
    if group:
        yield group


class Checker:
    def __init__(self, tool, onnxc):
        self.tool, self.onnxc = tool, onnxc

    def emit(self, model, folder):
        """Writes NAME.cpp and NAME.plan; what onnxc says if it refuses."""
        for out, options in ((f"{model.name}.cpp", model.options), (f"{model.name}.plan", ("--emit=program",))):
            done = subprocess.run([self.onnxc, model.path, *options, "--weights=incbin", "-o", folder / out], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode:
                return done.stderr.strip() or f"onnxc: exit status {done.returncode}"

    def read(self, names, folder):
        plans = [f"--plan={folder / name}.plan" for name in names]
        flags = ["-std=c++20", "-march=native", "-w", f"-I{ROOT / 'runtime_stub'}", f'-DONNXC_WEIGHTS_DIR="{folder}/"']
        return subprocess.run([self.tool, "--together", *plans, *[folder / f"{name}.cpp" for name in names], "--", *flags], capture_output=True, text=True)

    def judge(self, names, folder):
        """An Outcome of units that lie in the folder."""
        done = self.read(names, folder)
        if done.returncode not in (0, 1) and len(names) > 1:  # each alone says whose fault it is
            return joined([self.judge([name], folder) for name in names])
        if done.returncode not in (0, 1):
            header = re.search(r"fatal error: '([^']+)' file not found", done.stderr)
            if header and not header[1].startswith("onnxc/"):
                return NONE._replace(left_out=[(names[0], header[1])])
            return NONE._replace(units=1, broken=[(names[0], "it does not compile: " + done.stderr[-2000:])])
        broken, units, counts, unit = [], 0, [0, 0, 0], ""
        for line in done.stdout.splitlines():
            if line.startswith("  "):
                broken.append((unit, line.strip()))
            elif line.endswith("violations") and ".cpp: " in line:
                unit, units = Path(line.split(".cpp: ")[0]).name, units + 1
                found = re.search(r"(\d+) pointers into the arena, (\d+) of (\d+) operands", line)
                counts = [count + int(more) for count, more in zip(counts, found.groups())]
        assert units == len(names), (units, names, done.stdout)
        return Outcome(units, *counts, broken, [], [])

    def check(self, group):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            refused = [(model.name, why) for model in group if (why := self.emit(model, folder))]
            names = [model.name for model in group if model.name not in dict(refused)]
            return joined([self.judge(names, folder) if names else NONE, NONE._replace(refused=refused)])


def joined(outcomes):
    return Outcome(*[sum(part, start) for part, start in zip(zip(*outcomes), NONE)])


def check_units(tool, onnxc, all_of_them):
    """Prints what breaks a rule, each place once, and a summary. Whether nothing does."""
    began = time.time()
    checker = Checker(tool, onnxc)
    total = joined(list(side_by_side(checker.check, in_groups(models(all_of_them)))))
    by_place = collections.defaultdict(list)
    for unit, line in total.broken:
        by_place[line].append(unit)
    for line, units in by_place.items():
        print(f"{line}\n    in {units[0]}" + (f" and {len(units) - 1} others" if len(units) > 1 else ""))
    for unit, why in total.refused:
        print(f"no unit: {unit}: {why}")
    for unit, header in total.left_out:
        print(f"left out: {unit}, whose header {header} is not installed")
    print(f"{total.units} units: {len(by_place)} broken rules, {total.pointers} pointers into arenas, {total.compared} of {total.operands} operands compared with their extents, "
          f"{len(total.refused)} refused by onnxc, {len(total.left_out)} left out, {time.time() - began:.0f} seconds")
    return not by_place and not total.refused
