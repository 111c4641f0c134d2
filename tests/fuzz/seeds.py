#!/usr/bin/env python3
"""Where the programs of this folder begin: small models, their graphs as text, and files of values.

  seeds.py ONNXC FOLDER    writes FOLDER/bytes, model, graph and data, where they are missing

Models are the repository's samples, ONNX's backend tests and the named cases of tests/hostile, as far as they take less than 32 KB.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MOST = 32 << 10


def models():
    places = [ROOT / "samples", Path(os.environ["ONNXC_CACHE"])]
    for place in places:
        pattern = "conformance-*/**/*.onnx" if place == places[1] else "**/*.onnx"
        yield from (path for path in sorted(place.glob(pattern)) if path.stat().st_size <= MOST)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(ROOT / "tests/hostile/cases.py"), "--write", folder], check=True, stdout=subprocess.DEVNULL)
        yield from (path for path in sorted(Path(folder).rglob("*.onnx")) if path.stat().st_size <= MOST)


def write(folder, number, data):
    (folder / f"{number:05}").write_bytes(data)


def main():
    onnxc, folder = sys.argv[1], Path(sys.argv[2])
    if (folder / "complete").exists():
        return
    for name in ("bytes", "model", "graph", "data"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    values = 0
    for number, path in enumerate(models()):
        for name in ("bytes", "model"):
            write(folder / name, number, path.read_bytes())
        text = subprocess.run([onnxc, str(path), "--emit=graph"] + (["--stop-after=import"] if number % 2 else []), capture_output=True)
        if text.returncode == 0 and len(text.stdout) < MOST:
            write(folder / "graph", number, text.stdout)
        for value in sorted(path.parent.glob("test_data_set_0/input_0.pb")):
            if value.stat().st_size < 4096:
                write(folder / "data", values, bytes([number % 4]) + value.read_bytes())
                values += 1
    with tempfile.TemporaryDirectory() as scratch:
        for kind, save in ((4, np.save), (5, np.savez), (5, np.savez_compressed)):
            for array in (np.arange(6.0, dtype=np.float32).reshape(2, 3), np.zeros((0, 2), np.int64), np.asfortranarray(np.ones((2, 2), ">i2")), np.array(True)):
                file = Path(scratch) / f"a.{'npy' if kind == 4 else 'npz'}"
                save(file, array)
                write(folder / "data", values, bytes([kind]) + file.read_bytes())
                values += 1
    (folder / "complete").write_text("")


if __name__ == "__main__":
    main()
