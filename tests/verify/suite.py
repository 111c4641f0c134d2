"""onnxc verify on many models, several at a time: whether each unit, and the graph after each pass, is what the model says.

    suite.py [--sample N [--part K]] [FOLDER...]    with $ONNXC_EXECUTABLE; run.sh sets it. FOLDERs hold models at any depth; without any, ONNX's backend
                                                    tests. --sample: one of so many models, by a hash of their names; --part: another one, from 0 on

Units are built at -O0. A line for each model that is wrong, crashes, or takes too long, with what verify says of it; models of which nothing could be compared, by
the reason; and a summary. Exit status 1 if something is wrong.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from at_level import at_level  # noqa: E402
from side_by_side import side_by_side  # noqa: E402

ONNXC = Path(os.environ["ONNXC_EXECUTABLE"])
SECONDS = 600  # that a model may take


def suite():
    import onnx

    cache = Path(os.environ["ONNXC_CACHE"]) / f"conformance-{onnx.__version__}"
    subprocess.run([ONNXC.parent / "conformance", "node", "simple", "pytorch-converted", "pytorch-operator", "--list"], check=True, capture_output=True)  # makes the suites
    return sorted(cache.glob("*/*/model.onnx"))


def verify(model, environment):
    """(model, exit status or None for too long, what was said)."""
    try:
        done = subprocess.run([ONNXC, "verify", model, "--each-pass", "--no-code", "--quiet"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired as late:
        return model, None, (late.stdout or b"").decode(errors="replace")
    return model, done.returncode, done.stdout + done.stderr


def main():
    began = time.time()
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--sample", type=int, default=1)
    arguments.add_argument("--part", type=int, default=0)
    arguments.add_argument("folders", nargs="*", type=Path)
    given = arguments.parse_args()
    models = sorted(model for folder in given.folders for model in folder.rglob("*.onnx")) if given.folders else suite()
    models = [model for model in models if zlib.crc32(str(model.parent.name).encode()) % given.sample == given.part]
    counts, sets, unanswered = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**at_level("-O0"), "ONNXC_CACHE": scratch}
        for model, status, said in side_by_side(lambda model: verify(model, environment), models):
            name = model.parent.name if model.name == "model.onnx" else model.name
            total = re.search(r"(\d+) right, (\d+) wrong, (\d+) not compared", said)
            if total:
                sets.update(dict(zip(("right", "wrong", "not compared"), map(int, total.groups()))))
            reasons = {re.sub(r"^\S+: |'[^']*'", "", line.split("not compared  ")[1].split("the evaluator: ")[-1]) for line in said.splitlines() if "not compared  " in line}
            if "nothing could be compared" in said:
                counts["not compared"] += 1
                unanswered["; ".join(sorted(reasons))].append(name)
            elif status == 0:
                counts["right"] += 1
            else:
                counts["wrong"] += 1
                print(f"{name}: {'no answer after %d s' % SECONDS if status is None else 'exit status %d' % status}\n{said}", flush=True)
    for reason, names in sorted(unanswered.items()):
        print(f"not compared, since {reason or 'nothing was said'}: {', '.join(names)}")
    print(f"{len(models)} models: {counts['right']} right, {counts['wrong']} wrong, {counts['not compared']} without an answer; "
          f"{sum(sets.values())} sets of inputs: {sets['right']} right, {sets['wrong']} wrong, {sets['not compared']} not compared; {time.time() - began:.0f} seconds")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
