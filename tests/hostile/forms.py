"""Bends the forms of each operator and says which of them end badly.

    forms.py [--binary BUILD/onnxc] [--stride 40 [--offset N] | --all] [--filter REGEX] [--jobs 2] [--no-compile]
    forms.py --only NAME [--write FILE]     one of them: writes it and says what becomes of it

A form is one valid node (seeds.py), changed in one place (bends/). A run of onnxc must end with exit status 0 and C++ that compiles, or with 1 or 4 and one line that says
why; in 2 s and 512 MB. All else is a fault: a signal, an internal error, several lines, no line. Some of the units are run too, in buffers of exactly the sizes that they state.
"""
import argparse
import collections
import concurrent.futures
import itertools
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import time

import emitted
from bends import forms_of
from judge import Runner, built_server
from seeds import all_seeds

CHUNK = 100


def all_forms():
    for seeds in all_seeds():
        for k, seed in enumerate(seeds):
            yield from forms_of(seed, k == 0)


def chosen(options):
    pattern = re.compile(options.filter)
    step = 1 if options.all else options.stride
    matching = ((name, make) for name, make in all_forms() if pattern.search(name))
    return list(itertools.islice(matching, options.offset % step, None, step))


class Worker:
    """Of a pool. `forms` come by fork: functions cannot be sent."""

    forms, runner, units, options = [], None, None, None

    @classmethod
    def start(cls):
        cls.runner = Runner(cls.options.binary, pathlib.Path(cls.options.work) / str(os.getpid()), cls.options.sanitized, cls.options.server)
        cls.units = emitted.Units(pathlib.Path(cls.options.work) / "units")

    @classmethod
    def run(cls, first):
        results = []
        for name, make in cls.forms[first:first + CHUNK]:
            data = None
            try:
                data = make().SerializeToString()
            except Exception as error:
                results.append((name, "generator", f"{type(error).__name__}: {error}", 0, ""))
                continue
            ended = cls.runner.run(data, ("--link-file", str(cls.runner.folder / "unit.link")))
            unit = cls.units.add(cls.runner.folder) if ended.status == 0 and not ended.fault and not cls.options.no_compile else ""
            results.append((name, ended.fault, ended.said[:600], ended.status, unit))
        return results

    @classmethod
    def invalid(cls, number):
        """What ONNX's checker has against a form, apart from outputs whose shape is not stated."""
        import onnx

        name, make = cls.forms[number]
        model = make()
        kept = [o for o in model.graph.output if not o.type.HasField("tensor_type") and o.HasField("type") or o.type.tensor_type.HasField("shape")]
        del model.graph.output[:]
        model.graph.output.extend(kept)
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception as error:
            return name, str(error).splitlines()[0][:200]
        return name, ""

    @classmethod
    def compile(cls, names):
        return emitted.check(cls.units.folder, names)

    @classmethod
    def run_units(cls, names):
        return emitted.run(cls.units.folder, names, cls.runner.folder)


def kind_of(name):
    """operator, kind of bend"""
    operator, _, rest = name.partition("/")
    return operator.removesuffix(".less"), rest.split("/")[1]


def report(results, elapsed, show):
    faults = [r for r in results if r[1]]
    kinds, totals = collections.Counter(kind_of(r[0])[1] for r in faults), collections.Counter(kind_of(r[0])[1] for r in results)
    statuses = collections.Counter(r[3] for r in results)
    for name, fault, said, _, _ in faults[:show]:
        print(f"FAILED {name}: {fault}: {' | '.join(said.splitlines())[:200]}\n       again: tests/hostile/forms.py --only '{name}'")
    if len(faults) > show:
        print(f"and {len(faults) - show} more")
    print("bend              forms  faults")
    for kind, number in sorted(totals.items()):
        print(f"{kind:16} {number:6} {kinds[kind]:7}")
    print(f"{len(results)} forms, {statuses[0]} taken, {statuses[1] + statuses[4]} refused, {len(faults)} faults, in {elapsed:.0f} s")


def invalid(taken):
    """Tells of forms that were taken though ONNX's checker refuses them: not faults, but worth a look."""
    found, results = list(taken), []  # in a process of its own: the checker may crash
    while found:
        try:
            with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
                for number, result in zip(list(found), pool.map(Worker.invalid, found, chunksize=1)):
                    results.append(result)
                    found.remove(number)
        except concurrent.futures.process.BrokenProcessPool:
            results.append((Worker.forms[found.pop(0)][0], "(the checker crashes)"))
    results = [r for r in results if r[1]]
    print("taken, though ONNX's checker refuses:")
    for name, said in results:
        print(f"  {name}: {said}")


def one(options):
    for name, make in all_forms():
        if name == options.only:
            data = make().SerializeToString()
            if options.write:
                pathlib.Path(options.write).write_bytes(data)
            runner = Runner(options.binary, pathlib.Path(options.work) / "alone", options.sanitized)
            ended = runner.run(data, ("--link-file", str(runner.folder / "unit.link")))
            print(f"{name}: exit status {ended.status}, {ended.seconds:.2f} s, {ended.mebibytes:.0f} MB\n{ended.said}")
            if ended.status == 0 and not ended.fault:
                units = emitted.Units(pathlib.Path(options.work) / "units")
                unit = units.add(runner.folder)
                ended.fault = "; ".join(emitted.check(units.folder, [unit]).values() or emitted.run(units.folder, [unit], options.work)[0].values()) if unit else ""
            print(ended.fault or "no fault")
            return 1 if ended.fault else 0
    print("no such form")
    return 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--binary", default="build/onnxc")
    parser.add_argument("--runtime", type=pathlib.Path, default=emitted.RUNTIME, help="the headers that the binary's units need, where it is of another source tree")
    parser.add_argument("--stride", type=int, default=40)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--only")
    parser.add_argument("--write")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--run", type=int, default=60, help="how many units are also run, under the address sanitizer")
    parser.add_argument("--invalid", action="store_true", help="also list forms that were taken though ONNX's checker refuses them")
    parser.add_argument("--show", type=int, default=200)
    parser.add_argument("--results", help="file for a line of JSON for each form that has a fault")
    parser.add_argument("--every", action="store_true", help="lines for all forms, so that two compilers can be compared")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("ONNXC_JOBS", os.cpu_count())))
    options = parser.parse_args()
    emitted.RUNTIME = options.runtime.resolve()
    options.binary = str(pathlib.Path(options.binary).resolve())
    options.sanitized = b"__asan_init" in pathlib.Path(options.binary).read_bytes()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") and not options.all else None) as options.work:
        if options.only:
            return one(options)
        options.server = built_server(options.work)
        start = time.time()
        forms = chosen(options)
        if options.list:
            print("\n".join(name for name, _ in forms))
            return 0
        Worker.forms, Worker.options = forms, options
        print(f"{len(forms)} forms, made in {time.time() - start:.0f} s", flush=True)
        results, wrong, astray = [], {}, {}
        with multiprocessing.get_context("fork").Pool(options.jobs, Worker.start) as pool:
            for part in pool.imap(Worker.run, range(0, len(forms), CHUNK)):
                results += part
            units = sorted({r[4] for r in results if r[4]})
            print(f"{len(units)} different units, after {time.time() - start:.0f} s", flush=True)
            for part in pool.imap(Worker.compile, [units[i:i + emitted.GROUP] for i in range(0, len(units), emitted.GROUP)]):
                wrong |= part
            sound = [unit for unit in units if unit not in wrong]
            sample = sound[:: max(1, -(-len(sound) // options.run))] if options.run else []
            ran = 0
            for part, number in pool.imap(Worker.run_units, [sample[i:i + emitted.RUN_GROUP] for i in range(0, len(sample), emitted.RUN_GROUP)]):
                astray |= part
                ran += number
            print(f"{len(units) - len(sound)} of them do not compile; of {len(sample)} others {ran} ran, {len(astray)} badly, after {time.time() - start:.0f} s", flush=True)
        results = [(name, "runs badly: " + astray[unit], said, status, unit) if unit in astray else (name, fault, said, status, unit) for name, fault, said, status, unit in results]
        results = [(name, "does not compile", wrong[unit], status, unit) if unit in wrong else (name, fault, said, status, unit) for name, fault, said, status, unit in results]
    if options.results:
        import json

        with open(options.results, "w") as file:
            for name, fault, said, status, _ in results:
                if fault or options.every:
                    print(json.dumps([name, fault, said, status]), file=file)
    report(results, time.time() - start, options.show)
    if options.invalid:
        taken = {r[0] for r in results if r[3] == 0 and not r[1]}
        invalid([k for k, (name, _) in enumerate(forms) if name in taken])
    return 1 if any(r[1] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
