#!/usr/bin/env python3
"""Small networks, made for four threads and run with one to four: results are the same to the bit, and ONNX Runtime's.

branching.py has the networks. That steps are there which go without waiting for each other is counted.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxc

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from branching import networks, perceptron  # noqa: E402
from networks import agree, make_model, reference  # noqa: E402
from side_by_side import side_by_side  # noqa: E402

THREADS = 4
RUNS = 5  # of each: a race need not show in the first


def emitted(model):
    """The text of the unit, and of its header."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        path.write_bytes(model.SerializeToString())
        subprocess.run([os.environ["ONNXC_EXECUTABLE"], path, "--threads", str(THREADS), "-o", Path(folder, "unit.cpp")], check=True)
        return Path(folder, "unit.cpp").read_text(), Path(folder, "unit.h").read_text()


def groups(model):
    """Forks with several steps in the emitted unit."""
    return len(re.findall(r"threads\.run\(\[&\]\(onnxc::Share share\) \{\n", emitted(model)[0]))


def check_rows():
    """A step of any number of rows is shared on a condition that a run tells, one of many rows always; what it gives is the same. Gives the number of failures."""
    failed = 0
    condition = re.compile(r"threads\.where\(\d+ \* dims\.rows >= \d+")
    for dims in None, {0: "rows"}:
        nodes, constants, outputs, feeds, _ = perceptron(dims)
        model = make_model("perceptron", nodes, constants, outputs, feeds, dims)
        if bool(condition.search(emitted(model)[0])) != (dims is not None):
            failed += 1
            print(f"FAILED perceptron with {dims}: shared on a condition where its rows are known, or always where they are not")
    library = onnxc.compile(model, threads=THREADS)
    for rows in 1, 3, 40, 700:
        some = {"x": feeds["x"][:rows]}
        expected = reference(model, some)
        for threads in 1, 2, THREADS:
            if not agree(onnxc.InferenceSession(library, threads=threads).run(None, some), expected):
                failed += 1
                print(f"FAILED perceptron: {rows} rows on {threads} threads give other values than ONNX Runtime's")
    return failed


def found_by_sanitizer(unit, header):
    """What the thread sanitizer says of a run, empty if nothing; None where there is no such sanitizer."""
    root = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "unit.cpp").write_text(unit)
        Path(folder, "unit.h").write_text(header)
        flags = ["-std=c++20", "-O0", "-g1", "-w", "-march=native", "-fsanitize=thread", f"-I{root}", f"-I{root}/runtime_stub", f"-I{folder}"]
        built = subprocess.run([os.environ.get("ONNXC_CXX", "c++"), *flags, Path(__file__).with_name("races.cpp"), "-o", Path(folder, "races")], capture_output=True, text=True, check=False)
        if "tsan" in built.stderr:  # the linker does not find it
            return None
        if built.returncode:
            return built.stderr
        done = subprocess.run([Path(folder, "races")], capture_output=True, text=True, check=False)
        return done.stderr or (f"status {done.returncode}" if done.returncode else "")


def check_races():
    """Two towers have no race; where each thread does what is another's as well, that is seen. Gives the number of failures."""
    nodes, constants, outputs, feeds, dims = networks()["towers"]
    unit, header = emitted(make_model("towers", nodes, constants, outputs, feeds, dims))
    planted, count = re.subn(r"(onnxc::Share share\)[^{]*\{)", r"\1 share = {};", unit)
    right, wrong = side_by_side(lambda text: found_by_sanitizer(text, header), (unit, planted))
    if right is None:
        print("(no thread sanitizer)")
        return 0
    if right:
        print(f"FAILED towers, under the thread sanitizer: {right[:1500]}")
    missed = count == 0 or "data race" not in wrong
    if missed:
        print(f"FAILED a race that was planted {count} times is not seen: {wrong[:1500]}")
    return (right != "") + missed


def main():
    made = networks()
    models = {title: make_model(title.replace(" ", "_"), nodes, constants, outputs, feeds, dims) for title, (nodes, constants, outputs, feeds, dims) in made.items()}
    failed, found = 0, 0
    for (title, model), library in zip(models.items(), side_by_side(lambda model: onnxc.compile(model, threads=THREADS), models.values())):
        feeds = made[title][3]
        forks = groups(model)
        found += forks
        if forks == 0:
            failed += 1
            print(f"FAILED {title}: no steps are concurrent")
        first = onnxc.InferenceSession(library).run(None, feeds)
        expected = reference(model, feeds)
        if not agree(first, expected):
            failed += 1
            print(f"FAILED {title}: other values than ONNX Runtime's")
        for threads in range(2, THREADS + 1):
            session = onnxc.InferenceSession(library, threads=threads)
            if not all(np.array_equal(a, e) for _ in range(RUNS) for a, e in zip(session.run(None, feeds), first)):
                failed += 1
                print(f"FAILED {title}: {threads} threads give other values than one")
    failed += check_rows() + check_races()
    print(f"{len(made)} networks with {found} groups of concurrent steps, on 1 to {THREADS} threads: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
