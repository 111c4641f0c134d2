"""The Python that a comparison runs in: the one that tools/setup.sh --bench-deps makes, where this one lacks the peers."""
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Missing(Exception):
    """The peers are not installed."""


def enter(needed=("numpy", "onnx", "onnxruntime", "matplotlib")):
    """Goes on in that Python: does not return where this one is another and lacks what is needed."""
    if all(importlib.util.find_spec(module) for module in needed):
        return
    found = subprocess.run(["bash", "-c", '. tools/env.sh; echo "$ONNXC_BENCH_VENV"'], cwd=ROOT, capture_output=True, text=True, check=True)
    venv = Path(found.stdout.strip())
    if not (venv / ".complete").exists() or Path(sys.prefix) == venv:
        raise Missing("the peers are not installed: tools/setup.sh --bench-deps")
    os.execv(venv / "bin/python", [str(venv / "bin/python"), *sys.argv])
