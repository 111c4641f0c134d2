#!/usr/bin/env python3
"""What `onnxc profile`, `info` and `report` tell of units on other machines: as much as the harness counts, step by step."""
import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

from harness import models
from harness.image import ROOT
from harness.machines import MACHINES
from harness.measure import measure

ONNXC = Path(os.environ["ONNXC_EXECUTABLE"])
# Functions that measure are in the way of the compiler, and what the unit does between steps is counted by the harness alone.
BESIDE = 0.05


def call(*words, status=0, env=None):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900, env={**os.environ, **(env or {})})
    assert done.returncode == status, (words, done.returncode, done.stderr[-2000:])
    return done.stdout if status == 0 else done.stderr


def command(verb, case, machine, level, *more, **options):
    return call(ONNXC, verb, case.model, f"--target={machine}", f"-{level}", *(f"--dim={name}={extent}" for name, extent in case.dims.items()), *more, **options)


def main():
    case = models.case(models.folders()["made_ad_int8"])
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        for machine in ("cortex-m4", "cortex-m55", "cortex-m7"):
            row = measure(ONNXC, case, MACHINES[machine], "O3", work / machine)
            text = command("profile", case, machine, "O3", "--json", work / "profile.json", "--csv", work / "profile.csv")
            told = json.loads((work / "profile.json").read_text())
            total = sum(step["instructions"] for step in told["steps"])
            assert told["passed"] and abs(total / row["instructions"] - 1) < BESIDE, (machine, total, row)
            if machine == "cortex-m7":
                assert row["cycles"] is None and all(step["cycles"] is None for step in told["steps"]), told
            else:
                assert abs(sum(step["cycles"] for step in told["steps"]) / row["cycles"] - 1) < BESIDE, (machine, told, row)
            lines = list(csv.DictReader((work / "profile.csv").read_text().splitlines()))
            assert sum(int(line["instructions"]) for line in lines) == total and f"{total:,}" in text, text

        info = json.loads(command("info", case, "cortex-m4", "O3", "--measure", "--json"))
        counted = {layer["step"]: layer["instructions"] for layer in info["layers"] if "instructions" in layer}
        command("profile", case, "cortex-m4", "O3", "--json", work / "profile.json")
        assert counted == {step["number"]: step["instructions"] for step in json.loads((work / "profile.json").read_text())["steps"]}, info
        assert info["emulated"]["passed"] and info["footprint"]["ram"] == info["footprint"]["arena"] + info["footprint"]["stack"], info["footprint"]
        assert "cycles" in command("info", case, "cortex-m4", "O3", "--measure")
        command("report", case, "cortex-m4", "O3", "--measure", "--json", work / "report.json", "-o", work / "page.html")
        report = json.loads((work / "report.json").read_text())
        assert {step["number"]: step["instructions"] for step in report["steps"] if "instructions" in step} == counted and report["footprint"] == info["footprint"]

        assert "aarch64" in command("profile", case, "aarch64", "O3")
        assert "--trace" in command("profile", case, "cortex-m4", "O3", "--trace", work / "trace.json", status=2)
        for verb in ("run", "bench"):
            assert "onnxc profile" in command(verb, case, "cortex-m4", "O3", status=2)
        # Whatever the compiler optimises, loops in assembler have registers.
        floats = models.case(models.folders()["made_kws_fp32"])
        command("--emit=cpp", floats, "cortex-m4", "O3", "-o", work / "floats.cpp")
        for level in ("O0", "Og"):
            call(MACHINES["cortex-m4"].compiler, *MACHINES["cortex-m4"].flags.split(), "-std=c++20", f"-{level}", f"-I{ROOT / 'runtime_stub'}", "-c", work / "floats.cpp", "-o", work / "floats.o")
        # A compiler that needs options, and one that has no headers of C++.
        riscv = MACHINES["rv32imc"]
        assert "rv32imc" in command("profile", case, "rv32imc", "Os", env={"ONNXC_CXX": f"{riscv.compiler} {riscv.more}"})
        refusal = command("info", case, "rv32imc", "Os", "--measure", status=3)
        assert "ONNXC_CXX" in refusal and "bug" not in refusal, refusal
        for wrong in ("g++", "arm-none-eabi-g++ --nonsense", "/bin/true", "/bin/false"):
            refusal = command("info", case, "cortex-m4", "O3", "--measure", status=3, env={"ONNXC_CXX": wrong})
            assert "ONNXC_CXX" in refusal and "bug" not in refusal, (wrong, refusal)
        assert "stack" in command("info", case, "cortex-m4", "O3", "--measure", "--max-ram=1K", status=4)
        # Without the emulator `info` still tells what the compiler does.
        (work / "tools").mkdir()
        for tool in ("arm-none-eabi-g++", "c++", "cc", "as", "ld"):
            (work / "tools" / tool).symlink_to(subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip())
        text = command("info", case, "cortex-m4", "O3", "--measure", env={"PATH": str(work / "tools")})
        assert "qemu-system-arm" in text and "flash" in text, text
    print("instructions and cycles of steps are those of the whole")


if __name__ == "__main__":
    main()
