"""Compiles models in many forms, under circumstances that must not matter, and compares every byte with what the first circumstance gave.

    check.py [--all]         with $ONNXC_EXECUTABLE; run.sh sets it
"""
import argparse
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

ONNXC, ZOO = Path(os.environ["ONNXC_EXECUTABLE"]), Path(os.environ["ONNXC_CACHE"]) / "zoo"


def info(name, shape):
    return helper.make_tensor_value_info(name, T.FLOAT, shape)


def save(folder, name, nodes, inputs, outputs, weights, external=False):
    model = helper.make_model(helper.make_graph(nodes, name, inputs, outputs, weights), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    if external:
        onnx.save(model, folder / f"{name}.onnx", save_as_external_data=True, location=f"{name}.bin", size_threshold=0)
    else:
        onnx.save(model, folder / f"{name}.onnx")


def make_models(folder):
    """A convolutional network whose weights lie beside it, and one with a named dimension, a branch and a softmax."""
    random = np.random.default_rng(1)

    def weight(name, *shape):
        return numpy_helper.from_array((random.standard_normal(shape) / 3).astype(np.float32), name)

    node = helper.make_node
    save(folder, "images",
         [node("Conv", ["x", "k0", "b0"], ["c"], name="stem", pads=[1, 1, 1, 1], strides=[2, 2]), node("HardSwish", ["c"], ["h"]),
          node("Conv", ["h", "k1"], ["d"], name="depthwise", pads=[1, 1, 1, 1], group=16), node("Add", ["h", "d"], ["s"]),
          node("GlobalAveragePool", ["s"], ["p"]), node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "w", "b1"], ["y"], transB=1)],
         [info("x", [1, 3, 32, 32])], [info("y", [1, 10])],
         [weight("k0", 16, 3, 3, 3), weight("b0", 16), weight("k1", 16, 1, 3, 3), weight("w", 10, 16), weight("b1", 10)], external=True)
    then = helper.make_graph([node("Tanh", ["q"], ["t"])], "then", [], [info("t", ["n", 16])])
    other = helper.make_graph([node("Erf", ["q"], ["o"])], "else", [], [info("o", ["n", 16])])
    save(folder, "tokens",
         [node("MatMul", ["x", "w0"], ["q"]), node("ReduceMax", ["q"], ["m"], keepdims=0), node("Greater", ["m", "zero"], ["c"]),
          node("If", ["c"], ["v"], then_branch=then, else_branch=other), node("MatMul", ["v", "w1"], ["u"]), node("Softmax", ["u"], ["y"])],
         [info("x", ["n", 8])], [info("y", ["n", 5])], [weight("w0", 8, 16), weight("w1", 16, 5), numpy_helper.from_array(np.float32(0), "zero")])
    np.savez(folder / "samples.npz", x=random.standard_normal((8, 1, 3, 32, 32)).astype(np.float32))


@dataclass
class Circumstance:
    name: str
    environment: dict = field(default_factory=dict)
    before: list = field(default_factory=list)  # words before the command
    here: bool = False  # in the model's folder, which it names without one
    prepare: object = None


def circumstances(work):
    def read_only(folder):
        for path in [*folder.iterdir(), folder]:
            path.chmod(0o555 if path.is_dir() else 0o444)

    def of_old(folder):
        for path in folder.iterdir():
            os.utime(path, (0, 0))

    locales = [Circumstance(f"locale {p.name}", {"LC_ALL": p.name, "LOCPATH": str(work)}) for p in sorted(work.glob("*.UTF-8"))]
    fixed = ["setarch", "-R"] if subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0 else []
    return [
        Circumstance("as it comes"),
        Circumstance("once more"),
        Circumstance("in its folder", here=True),
        Circumstance("locale C", {"LC_ALL": "C"}),
        *locales,
        Circumstance("far east", {"TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8"}),
        Circumstance("no home", {"HOME": "/nowhere", "USER": "nobody", "LOGNAME": "nobody"}),
        Circumstance("umask 077", before=["sh", "-c", 'umask 077; exec "$@"', "sh"]),
        *([Circumstance("fixed addresses", before=fixed)] if fixed else []),
        Circumstance("much environment", {f"VARIABLE_{k}": "x" * 1000 for k in range(50)}),
        Circumstance("memory that is not zero", {"MALLOC_PERTURB_": "165", "MALLOC_ARENA_MAX": "1"}),
        Circumstance("one processor", before=["taskset", "-c", str(min(os.sched_getaffinity(0)))]),
        Circumstance("no ccache", {"CCACHE_DISABLE": "1"}),
        Circumstance("read-only", prepare=read_only),
        Circumstance("files of 1970", prepare=of_old),
    ]


# What calls compilers takes long: a quick run makes it under a few circumstances.
SLOW_FORMS = {"object", "library", "self-test", "quantised", "arduino"}
SLOW_CIRCUMSTANCES = {"as it comes", "in its folder", "no ccache"}
CORTEX = shutil.which("arm-none-eabi-g++") is not None


def forms(name, external):
    """What is made: a name, and the words of the command, with {model} and {out}."""
    whole = ["{model}", "-o", "{out}/m.cpp", "--manifest", "{out}/m.json"]
    result = {
        "unit": whole,
        "-Os": [*whole, "--target=cortex-m4", "-Os"] if name != "tokens" else [*whole, "-Os"],
        "standalone": [*whole, "--standalone", "--target=x86-64-v3", "--threads=4", "--profile"],
        "reproducible": [*whole, "--math=reproducible", "--weights=asm"],
        "weights.o": [*whole, "--weights=object"],
        "weights file": [*whole, "--weights=file"],
        "graph": ["{model}", "--emit=graph", "-o", "{out}/m.txt"],
        "program": ["{model}", "--emit=program", "-o", "{out}/m.txt"],
        "header": ["{model}", "--emit=header", "-o", "{out}/m.h"],
        "report": ["report", "{model}", "--json", "{out}/r.json", "-o", "{out}/r.html"],
    }
    if external:  # the small one
        result |= {
            "object": ["{model}", "--emit=object", "--target=generic", "-O1", "-o", "{out}/m.o", "--manifest", "{out}/m.json"],
            "library": ["{model}", "--emit=shared", "--target=generic", "-O1", "-o", "{out}/m.so"],
            "self-test": [*whole, "--self-test", "--target=generic"],
            "zephyr": ["package", "{model}", "--as=zephyr", "--target=generic", "-o", "{out}/p"],
            "cmsis-pack": ["package", "{model}", "--as=cmsis-pack", "--target=cortex-m4", "-o", "{out}/p"],
            "quantised": ["quantize", "{model}", "--calibration", "{samples}", "-o", "{out}/q.onnx", "--target=generic"],
        }
        if CORTEX:
            result["arduino"] = ["package", "{model}", "--as=arduino", "--target=cortex-m4", "-Os", "-o", "{out}/p"]
    return result


def hash_of(folder):
    """Of all files in the folder, with their names."""
    whole = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        whole.update(str(path.relative_to(folder)).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def make(onnxc, circumstance, source, words, out, cache):
    out.mkdir(parents=True)
    where = {"model": source.name if circumstance.here else str(source), "samples": source.parent / "samples.npz", "out": out}
    command = [*circumstance.before, str(onnxc), *(w.format(**where) for w in words)]
    environment = {**os.environ, "ONNXC_CACHE": str(cache), **circumstance.environment}
    done = subprocess.run(command, env=environment, cwd=source.parent if circumstance.here else "/", stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr.decode(errors='replace').strip()[:200]}"
    return hash_of(out)


def make_locales(folder):
    """With a comma before the decimals, and with an i whose capital has a dot; where the system has what they are made of."""
    for locale in ("de_DE", "tr_TR"):
        made = folder / f"{locale}.UTF-8"
        if subprocess.run(["localedef", "-i", locale, "-f", "UTF-8", made], capture_output=True).returncode != 0:
            shutil.rmtree(made, ignore_errors=True)


def check(work, everything):
    start = time.monotonic()
    make_locales(work)
    models = work / "models"
    models.mkdir()
    make_models(models)
    names = ["images", "tokens"]
    if everything:
        for name in ("cond_if", "gradient_boosting_reg", "lstm_classifier", "bert_mini", "lenet5_digits_qdq"):
            if (ZOO / name / "model.onnx").exists():
                shutil.copy(ZOO / name / "model.onnx", models / f"{name}.onnx")
                names.append(name)
    all_circumstances = circumstances(work)
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for k, circumstance in enumerate(all_circumstances):
            place = work / f"place {k}" / ("deeper/" * (k % 3))
            shutil.copytree(models, place)
            if circumstance.prepare:
                circumstance.prepare(place)
            for name in names:
                for form, words in forms(name, name == "images").items():
                    if form in SLOW_FORMS and not everything and (circumstance.name not in SLOW_CIRCUMSTANCES or form in ("library", "self-test")):
                        continue
                    out = work / "out" / str(k) / name / form.replace(" ", "_")
                    # What one circumstance has compiled is not there for the next.
                    jobs[k, name, form] = pool.submit(make, ONNXC, circumstance, place / f"{name}.onnx", words, out, work / f"cache {k}")
    failed = 0
    print("| model | form | SHA-256 of all files | the same in |")
    print("|---|---|---|---|")
    for name in names:
        for form in forms(name, name == "images"):
            if (0, name, form) not in jobs:
                continue
            first = jobs[0, name, form].result()
            others = {c.name: jobs[k, name, form].result() for k, c in enumerate(all_circumstances) if (k, name, form) in jobs}
            different = {c: h for c, h in others.items() if h != first}
            print(f"| {name} | {form} | {first[:16]} | {len(others) - len(different)} of {len(others)} |", flush=True)
            if different or first.startswith("status"):
                failed += 1
                for circumstance, found in different.items() or {"as it comes": first}.items():
                    print(f"FAILED  {name}, {form}, {circumstance}: {found[:250]}")
    print(f"reproducible: {len(jobs)} results in {len(all_circumstances)} circumstances ({', '.join(c.name for c in all_circumstances)}), "
          f"{failed} failed, in {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        sys.exit(check(Path(work).resolve(), options.all))


main()
