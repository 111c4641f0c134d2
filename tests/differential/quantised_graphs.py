"""Random quantised networks, as quantisers write them, on what onnxc emits, against ONNX Runtime without optimisations. See docs/differential.md.

    quantised_graphs.py [--cases 200] [--seed 1] [--case K [--layers N]] [--keep FOLDER] [--first K]

Results that are integers must be ONNX Runtime's, but where the real quotient lies so near to a tie that rounding in f32 may decide (quantised_network.py): there the neighbour is as right. How many are such
is told. A network is drawn from the seed and its number alone; `--layers` cuts it after so many, which is how a failing one is made small. --keep writes each failing case as a folder that
`onnxc run` takes.

Exit status: 0, or 1 where a network gave a wrong result or was refused.
"""
import argparse
import collections
import pathlib
import sys

import ml_dtypes  # noqa: F401  (registers the types of 4 bits)
import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]

from draw import Draw  # noqa: E402
import quantised_products  # noqa: E402, F401  (registers its layers)
import quantised_moves  # noqa: E402, F401  (after those of products)
from quantised_layers import LAYERS  # noqa: E402
from quantised_network import Ambiguous, Network, Quantised, is_power_of_two, session, verdict  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402


def shape_of_input(d):
    rank = d.one(2, 2, 3, 3, 4, 4, 4, 4, 4, 5)
    batch = d.one(1, 1, 1, 2, 3)
    if rank == 2:
        return [d.one(1, 2, 3, 5, 17, 33), d.one(1, 4, 7, 16, 33, 64, 96)]
    channels = d.one(1, 2, 3, 4, 5, 8, 12, 16, 24)
    return [batch, channels, *(d.int(1, {3: 24, 4: 11, 5: 5}[rank]) for _ in range(rank - 2))]


def add_input(n):
    """Bytes, or a float that is quantised first; values away from ties, but in dyadic networks."""
    d = n.d
    kind = np.dtype(d.one(np.uint8, np.uint8, np.uint8, np.int8, np.int8, np.int8, np.uint16, np.int16))
    info = np.iinfo(kind)
    scale = np.asarray(n.draw_scale(8 / (int(info.max) - int(info.min))), np.float32)
    middle = (int(info.min) + int(info.max) + 1) // 2
    zero = np.asarray(d.one(info.min, info.max, middle, middle, d.int(info.min, info.max), d.int(info.min // 2 + middle // 2, info.max // 2 + middle // 2)), kind)
    shape = shape_of_input(d)
    q = d.rng.integers(info.min, info.max, shape, endpoint=True) if d.chance(0.85) else d.rng.choice([int(info.min), int(info.max), int(zero)], shape)
    if d.chance(0.5):
        q = q.astype(kind)
        n.quantised.append(Quantised(n.input(q), q, scale, zero))
        return
    steps = d.rng.choice([-0.5, 0, 0.5, 0.25], shape) if n.dyadic else d.rng.uniform(-0.4, 0.4, shape)
    beyond = d.rng.choice([0, 0, 0, 300, -300], shape) if d.chance(0.3) else 0  # saturates
    x = ((q - int(zero) + steps + beyond) * float(scale)).astype(np.float32)
    source = n.input(x)
    names, attributes = n.quantisation(scale, zero)
    name = n.node("QuantizeLinear", source, *names, **attributes)
    if not is_power_of_two(scale):
        quotient = x.astype(np.float64) / float(scale)
        if (np.abs(np.abs(quotient - np.floor(quotient)) - 0.5) < 1e-3).any():
            raise Ambiguous("near a tie")
    n.quantised.append(Quantised(name, n.arrays[name], scale, zero))


class Case:
    def __init__(self, number, network, made, threads):
        self.number, self.layers, self.threads = number, network.layers, threads
        self.model, self.feeds, self.ends = made

    def unit(self):
        return Unit(self.model, ("--subnormals=keep",), self.threads)


def draw_case(seed, number, layers=None):
    """The case of that number; None where nothing could be drawn."""
    d = Draw(seed, 77, number)
    n = Network(d, dyadic=d.chance(0.4))
    n.layers = []
    symbols, threads = d.chance(0.15), d.one(1, 1, 1, 2)
    try:
        add_input(n)
    except Ambiguous:
        return None
    names = [name for name, (_, weight) in LAYERS.items() for _ in range(weight)]
    wanted = d.one(1, 1, 2, 3, 4, 6, 8)
    for _ in range(4 * wanted):
        if len(n.layers) >= min(wanted, layers or wanted) or not n.quantised:
            break
        name = d.among(names)
        before = [len(n.nodes), len(n.quantised), len(n.ends)]
        try:
            LAYERS[name][0](n)
            n.layers.append(name)
        except Ambiguous:  # as if it had not been tried
            for kept, length in zip((n.nodes, n.quantised, n.ends), before):
                del kept[length:]
    for free in (True, False) if symbols else (False,):  # an extent may turn out not to be free
        try:
            made = n.model(free)
            check_whole(made)
            return Case(number, n, made, threads)
        except Ambiguous:
            continue
    return None


def check_whole(made):
    """ONNX Runtime gives the whole network the values that it gave the nodes alone, or refuses it: its inference of shapes knows another rule for ceil_mode than its kernels."""
    model, feeds, ends = made
    try:
        results = session(model.SerializeToString()).run(None, feeds)
    except Exception as error:  # of any kind: ONNX Runtime has its own
        raise Ambiguous(str(error)) from error
    if not all(np.array_equal(result, end.array, equal_nan=True) for result, end in zip(results, ends, strict=True)):
        raise RuntimeError("ONNX Runtime gives the whole network other values than its nodes alone")


def write(folder, case):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(case.model, folder / "model.onnx")
    for k, (name, array) in enumerate(case.feeds.items()):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
    for k, end in enumerate(case.ends):
        (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(end.array, end.name).SerializeToString())


def judge(case, session):
    """(what is wrong or None, how many integers differ as they may, how many there are)"""
    integers = sum(end.array.size for end in case.ends if isinstance(end, Quantised))
    if isinstance(session, Exception):
        return str(session), 0, integers
    flipped = 0
    try:
        results = session.run(None, case.feeds)
    except Exception as error:  # a status of the unit, or what the session finds wrong
        return f"{type(error).__name__}: {error}", 0, integers
    for end, actual in zip(case.ends, results, strict=True):
        problem, differ = verdict(end, actual)
        if problem:
            return problem, 0, integers
        flipped += differ
    return None, flipped, integers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--layers", type=int, help="cut after so many")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for cases that fail; with --case also for one that does not")
    options = parser.parse_args()
    numbers = [options.case] if options.case is not None else range(options.first, options.first + options.cases)
    cases = [case for number in numbers if (case := draw_case(options.seed, number, options.layers))]
    layers = collections.Counter(name for case in cases for name in case.layers)
    faults = flipped = integers = uncertain = 0
    for done, (case, (problem, differ, of)) in enumerate(zip(cases, judged_in_groups(cases, lambda case: [case.unit()], judge)), 1):
        if done % 100 == 0:
            print(f"({done} of {len(cases)} networks)", file=sys.stderr, flush=True)
        faults += problem is not None
        flipped, integers = flipped + differ, integers + of
        uncertain += sum(int((end.low != end.high).sum()) for end in case.ends if isinstance(end, Quantised) and end.low is not None)
        if problem:
            print(f"FAILED {case.number} ({', '.join(case.layers)}): {problem[:400]}", flush=True)
        if options.keep and (problem or options.case is not None):
            write(options.keep / f"{options.seed}_{case.number}", case)
    print(f"{len(cases)} networks of {sum(layers.values())} layers ({', '.join(f'{n} {name}' for name, n in layers.most_common())}), {faults} wrong. Of {integers} integers {uncertain} lie within their bound of a "
          f"tie, and {flipped} of these are the neighbour of ONNX Runtime's.")
    return 1 if faults or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
