"""Models with open dimensions at twenty sizes of these: one unit each, against ONNX Runtime without its optimisations.

    check.py FOLDER [--all] [--seed N] [MODEL...]      FOLDER: models as tests/zoo has them; --all: each with open dimensions, on one and on two threads, and signals of bench/

Every second model is built for two threads. Models with states run with --state=auto as well: caches grow from nothing by steps of many lengths. Sizes that ONNX Runtime refuses, such
as more positions than a model has, are drawn again.
"""
import argparse
import pathlib
import sys

import numpy as np
import onnxruntime

import onnxc

sys.path[:0] = [str(pathlib.Path(__file__).parents[1])]
from models import COUNT, SIGNALS, of_bench, of_folder  # noqa: E402
from side_by_side import side_by_side  # noqa: E402

# Attention, recurrence, control flow and a cache: of the zoo, and of tests/zoo/generate.py.
USUAL = ["bert_mini", "gpt2_mini_kv", "lstm_classifier", "loop_scan", "cond_if", "encoder", "lstm_tagger", "gru_tagger", "cached_decoder", "pyramid", "branch"]
STATE = onnxruntime.capi.onnxruntime_pybind11_state
REFUSALS = STATE.Fail, STATE.InvalidArgument, STATE.NotImplemented, STATE.RuntimeException
STEPS = [[7, 1, 1, 8, 1, 15, 1, 17, 1, 1], [1, 1, 1, 63, 1, 2, 31, 1], [64, 1, 3, 33, 1, 1]]


def reference(case):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # as the zoo's results were made
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(case.source(), options, providers=["CPUExecutionProvider"])


def difference(got, wanted, tolerance):
    """(what is wrong or None, the largest relative error); as tools/driver/compare.cpp judges."""
    if isinstance(wanted, (list, dict)):
        if len(got) != len(wanted):
            return f"has {len(got)} items, expected {len(wanted)}", np.inf
        pairs = [(got[k], wanted[k]) for k in (wanted if isinstance(wanted, dict) else range(len(wanted)))]
        return max((difference(np.asarray(a), np.asarray(e), tolerance) for a, e in pairs), key=lambda one: (one[0] is not None, one[1]), default=(None, 0))
    if got.shape != wanted.shape:
        return f"has the shape {list(got.shape)}, expected {list(wanted.shape)}", np.inf
    if wanted.dtype.kind not in "fiu" or wanted.dtype.kind in "iu" and (wanted.dtype.itemsize > 2 or "rel_l2" not in tolerance):
        wrong = int((np.asarray(got, object) != np.asarray(wanted, object)).sum())
        return (f"{wrong} of {wanted.size} elements differ" if wrong else None), 0
    a, e = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    finite = np.isfinite(e)
    if not (np.isfinite(a) == finite).all() or not np.array_equal(a[~finite], e[~finite], equal_nan=True):
        return "is finite elsewhere", np.inf
    error = np.abs(a - e)[finite]
    l2 = float(np.linalg.norm(error) / max(np.linalg.norm(e[finite]), 1e-300)) if error.any() else 0.0
    if "rel_l2" in tolerance:
        return (f"is {l2:.3g} off in relative L2" if l2 > tolerance["rel_l2"] else None), l2
    wrong = error > tolerance["atol"] + tolerance["rtol"] * np.abs(e[finite])
    return (f"has {int(wrong.sum())} of {error.size} elements wrong, by up to {error.max():.3g}" if wrong.any() else None), l2


def compared(got, wanted, names, tolerance):
    """(what is wrong, the largest error)."""
    faults, largest = [], 0.0
    for name, a, e in zip(names, got, wanted, strict=True):
        fault, error = difference(a, e, tolerance)
        largest = max(largest, error)
        if fault:
            faults.append(f"'{name}' {fault}")
    return faults, largest


def at_sizes(case, threads, random):
    """(faults, the largest error, how many sizes)."""
    theirs, session = reference(case), onnxc.InferenceSession(case.source(), threads=threads)
    names, faults, largest, done = [o.name for o in theirs.get_outputs()], [], 0.0, 0
    for tried, sizes in enumerate(case.sizes(random)):
        if done == COUNT or tried == 4 * COUNT:
            break
        feeds = case.feeds(sizes, random)
        try:
            wanted = theirs.run(None, feeds)
        except REFUSALS:
            continue
        done += 1
        try:
            wrong, error = compared(session.run(None, feeds), wanted, names, case.tolerance)
        except (onnxc.RunError, ValueError) as refusal:
            wrong, error = [f"refused: {refusal}"], np.inf
        largest = max(largest, error)
        faults += [f"{sizes}: {fault}" for fault in wrong]
    return faults, largest, done


def as_state(case, threads, random):
    """As at_sizes, where states are kept. Caches have more room than they need, or as much."""
    theirs, session = reference(case), onnxc.InferenceSession(case.source(), threads=threads, options=["--state=auto"])
    pairs = [(session.get_inputs()[past], present) for present, past in enumerate(session._states) if past >= 0]
    names, faults, largest, done = [o.name for o in theirs.get_outputs()], [], 0.0, 0
    lengths = [d for d in case.open if d not in ("batch", "past")]
    for k, steps in enumerate(STEPS if lengths else [[1] * 20]):
        batch, past, kept = (3, 1, 2)[k % 3], 0, None
        rooms = {d: sum(steps) + k if d == "past" else batch for slot, _ in pairs for d in slot.shape if isinstance(d, str)}
        state = session.new_state(**rooms)
        for step in steps:
            sizes = {"batch": batch, "past": past, **{d: step + case.least(d) - 1 for d in lengths}}
            feeds = case.feeds(sizes, random)
            given = kept or {slot.name: np.zeros_like(feeds[slot.name]) for slot, _ in pairs}
            wanted = theirs.run(None, {**feeds, **given})
            got = state.run(names, {name: value for name, value in feeds.items() if name not in given})
            for slot, present in pairs:
                got[present] = state.values[slot.name]
                if "past" in slot.shape:  # a state may have the axis that grows at the front
                    got[present] = np.moveaxis(got[present], slot.shape.index("past"), case.dims[slot.name].index("past"))
            wrong, error = compared(got, wanted, names, case.tolerance)
            faults += [f"batch {batch}, step of {step} behind {past}: {fault}" for fault in wrong]
            largest, past, done = max(largest, error), past + step, done + 1
            kept = {slot.name: wanted[present] for slot, present in pairs}
    return faults, largest, done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("models", nargs="*")
    asked = parser.parse_intermixed_args()
    folders = sorted(path.parent for path in asked.folder.glob("*/model.onnx") if asked.all or path.parent.name in (asked.models or USUAL))
    makers = [lambda folder=folder: of_folder(folder) for folder in folders]
    makers += [lambda name=name: of_bench(name) for name in SIGNALS if asked.all or name in asked.models]

    def judge(item):
        k, make = item
        case = make()
        if case is None or asked.models and case.name not in asked.models:
            return []
        try:
            reference(case)
        except REFUSALS as refusal:
            return [("none  ", f"{case.name}: {refusal}", [])]
        lines = []
        for threads in (1, 2) if asked.all else (1 + k % 2,):
            for form in [at_sizes] + [as_state] * case.has_state:
                faults, largest, count = form(case, threads, np.random.default_rng([asked.seed, k]))
                if form is at_sizes and count < COUNT:
                    faults.append(f"ONNX Runtime takes {count} sizes only")
                word = "FAILED" if faults else "ok    "
                lines.append((word, f"{case.name}, {'state' if form is as_state else 'sizes'}, threads {threads}: {count} runs, largest error {largest:.2g}", faults))
        return lines

    failed = count = 0
    for lines in side_by_side(judge, enumerate(makers)):
        for word, line, faults in lines:
            print(word, line, *[f"\n    {fault}" for fault in faults[:5]], f"\n    and {len(faults) - 5} more" if len(faults) > 5 else "", flush=True)
            failed += word == "FAILED"
            count += word != "none  "
    print(f"{count - failed} of {count} agree with ONNX Runtime")
    sys.exit(failed > 0 or count == 0)


if __name__ == "__main__":
    main()
