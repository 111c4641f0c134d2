"""Random valid models, compiled in several ways each, against ONNX Runtime.

    campaign.py [--count 60] [--seed 1] [--ways 2] [--keep FOLDER]     --keep writes those that differ, with data, for onnxc run MODEL --data FOLDER, bisect and reduce
    campaign.py --only SEED --keep FOLDER [--plain]                    one of them; --plain: as it grew, without other forms
    campaign.py --hours 3 --seed 100000 --log FILE                     as many as there is time for

A model grows node by node (grow.py), in some of its forms (dress.py), and is compiled in the usual way and --ways others (variants.py). Results are compared within the bound that goes
with each value; integers, booleans and strings exactly. A process of its own makes and judges the models of a chunk, so that a unit which crashes or hangs is told of by its seed and ends
nothing else. Models that ONNX's checker or ONNX Runtime refuses, and runs that end with a stated limit, are counted, and may be one in twenty.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python")]
CHUNK_SECONDS = 900


def say(**line):
    print(json.dumps(line), flush=True)


def judge_chunk(options):
    """In a process of its own: a line of JSON for each thing that begins or ends."""
    import numpy as np
    import onnxc
    import units as building
    from cases import Case
    from units import Unit, sessions
    from variants import TARGETS, variants_of

    if options.sanitize:
        building.FLAGS += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1"]
    target = TARGETS[int(np.random.default_rng([77, options.chunk[0]]).integers(len(TARGETS)))] if options.targets else "native"
    cases, wanted, units = [], [], []
    for seed in options.chunk:
        say(begin=seed, what="growing")
        case = Case(seed, options.plain)
        say(grown=seed, refused=case.refused, nodes=len(case.grown.nodes), operators=case.operators(), worlds=case.grown.worlds, forms=case.dressed.forms, misses=case.grown.refused)
        if case.refused:
            continue
        ways = variants_of(case, np.random.default_rng([78, seed]), options.ways, target)
        cases.append(case)
        wanted.append(ways)
        units += [Unit(case.dressed.model, way.options, way.threads) for way in ways]
    made = iter([building.emit(unit, "unit") for unit in units] if options.no_build else sessions(units))
    for case, ways in zip(cases, wanted):
        faults = []
        for way in ways:
            say(begin=case.seed, what=str(way))
            session = next(made)
            if options.no_build and not isinstance(session, Exception):
                continue
            again = onnxc.InferenceSession(session._library._name, threads=1, namespace=session.name) if way.threads > 1 and not isinstance(session, Exception) else None
            if fault := case.judge(session, way.worlds, again):
                faults.append((str(way), fault))
        if not faults and not options.no_build and not case.sees():
            faults.append(("", "a result that is wrong would not be seen"))
        disputed = bool(faults) and case.is_disputed()
        if options.keep and (faults or options.only is not None):
            case.write(options.keep)
        say(end=case.seed, faults=faults, disputed=disputed, limited=case.limited, declined=case.declined, compared=case.compared, ways=[str(w) for w in ways])


def reduce(folder, seed, way, fault, minutes):
    """The smallest model that still shows it, beside the model that grew. The check makes inputs of its own, so that not all that differs can be reduced."""
    path, small = folder / f"graph_{seed}" / "model.onnx", folder / f"graph_{seed}" / "small.onnx"
    if not path.exists():
        return "its model was not kept"
    threads = way.split("--threads ")[1] if "--threads " in way else "1"
    flags = way.split(" --threads")[0] if not way.startswith("--threads") else ""
    says = re.search(r"error\[E\d+\]: \S+: (?:\S+ '[^']*': )?([^'0-9;]{8,})", fault)
    check = [sys.executable, str(pathlib.Path(__file__).with_name("differs.py")), f"--options={flags}", "--threads", threads, *([f"--says={says.group(1).strip()}"] if says else [])]
    done = subprocess.run([os.environ["ONNXC_EXECUTABLE"], "reduce", str(path), "--check", shlex.join(check), "-o", str(small), "--seconds", str(60 * minutes)], capture_output=True, text=True)
    return (done.stdout.splitlines() or [f"not reduced: {done.stderr.strip()[:200]}"])[0]


def sanitizers():
    """g++'s libraries, which a process must have loaded before it loads units that were built with them."""
    return " ".join(subprocess.run(["g++", f"-print-file-name={name}.so"], capture_output=True, text=True, check=True).stdout.strip() for name in ("libasan", "libubsan"))


def what_was_said(text):
    """Of a process that was ended: what a sanitizer found, or the last line."""
    lines = text.strip().splitlines()
    return next((line for line in lines if "runtime error:" in line or "ERROR: AddressSanitizer" in line), lines[-1] if lines else "")


def run_chunk(seeds, arguments):
    """Lines of a chunk; where its process dies or hangs, of the model that did it, too, and of the others again."""
    lines = []
    while seeds:
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "ONNXC_CACHE": os.environ.get("ONNXC_RANDOM_CACHE", cache)}
            if "--sanitize" in arguments:
                environment |= {"LD_PRELOAD": sanitizers(), "ASAN_OPTIONS": "detect_leaks=0", "ONNXC_CXX": "g++"}
            command = [sys.executable, __file__, "--chunk", ",".join(map(str, seeds)), *arguments]
            with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
                try:
                    code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment, timeout=CHUNK_SECONDS).returncode
                except subprocess.TimeoutExpired:
                    code = "no end"
                output.seek(0), errors.seek(0)
                new, said = [json.loads(line) for line in output.read().splitlines() if line.startswith("{")], errors.read()
        lines += [line for line in new if "begin" not in line]
        if code == 0:
            break
        last = [line for line in new if "begin" in line][-1:] or [{"begin": seeds[0], "what": "start"}]
        seed, what = last[0]["begin"], last[0]["what"]
        ended = {line["end"] for line in new if "end" in line}
        kind = f"killed by signal {-code}" if isinstance(code, int) and code < 0 else f"exit status {code}" if isinstance(code, int) else code
        lines.append({"end": seed, "faults": [(what, f"the process: {kind}: {what_was_said(said)}")], "disputed": False, "limited": "", "declined": "", "compared": 0, "ways": []})
        seeds = [s for s in seeds if s != seed and s not in ended]
    return lines


class Count:
    def __init__(self):
        self.models = self.refused = self.passed = self.failed = self.disputed = self.limited = self.declined = self.compared = self.units = self.nodes = self.symbolic = self.misses = 0
        self.operators, self.forms, self.reasons = collections.Counter(), collections.Counter(), collections.Counter()

    def add(self, line, log):
        if "grown" in line:
            self.models += 1
            self.nodes += line["nodes"]
            self.misses += line["misses"]
            self.refused += bool(line["refused"])
            if line["refused"]:
                log(f"refused by the oracle: graph {line['grown']}: {line['refused'][:300]}")
                return
            self.symbolic += line["worlds"] > 1
            self.operators.update(line["operators"])
            self.forms.update(line["forms"])
            return
        self.units += len(line["ways"])
        self.compared += line["compared"]
        for kind in ("limited", "declined"):
            if line[kind]:
                setattr(self, kind, getattr(self, kind) + 1)
                self.reasons[line[kind]] += 1
        if line["disputed"]:
            self.disputed += 1
        for way, fault in line["faults"]:
            log(f"{'disputed' if line['disputed'] else 'FAILED'} graph {line['end']} {way}: {fault[:600]}")
        if line["faults"] and not line["disputed"]:
            self.failed += 1
        else:
            self.passed += 1

    def summary(self, seconds):
        return (f"{self.models} models, {self.nodes} nodes of {len(self.operators)} operators, {self.symbolic} with symbols, {self.units} units, {self.compared} values compared; "
                f"{self.misses} nodes that ONNX Runtime has no kernel for; {self.refused} models refused by the oracle, {self.disputed} on which it disagrees with itself, {self.declined} declined, "
                f"of {self.limited} a run ends with a stated limit\n{self.passed} passed, {self.failed} failed, {self.models / max(seconds, 1e-9) * 60:.0f} models a minute")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hours", type=float, help="go on for so long, instead of --count")
    parser.add_argument("--only", type=int)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--ways", type=int, default=2)
    parser.add_argument("--targets", action="store_true", help="some chunks for other x86-64 processors")
    parser.add_argument("--sanitize", action="store_true", help="units watch their memory and for undefined behaviour; takes several times as long")
    parser.add_argument("--no-build", action="store_true", help="only see what onnxc refuses: hundreds a minute")
    parser.add_argument("--of", type=int, default=30, help="models in a chunk")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--reduce", type=float, metavar="MINUTES", help="with --keep: make each that fails small, in so many minutes")
    parser.add_argument("--log", type=pathlib.Path, help="file that gets all lines, too")
    parser.add_argument("--operators", action="store_true", help="how often each was in a model")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("ONNXC_JOBS", os.cpu_count())))
    parser.add_argument("--chunk", type=lambda text: [int(s) for s in text.split(",")], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.chunk:
        return judge_chunk(options)
    arguments = ["--ways", str(options.ways), *(["--plain"] if options.plain else []), *(["--targets"] if options.targets else []), *(["--sanitize"] if options.sanitize else []), *(["--no-build"] if options.no_build else []), *(["--keep", str(options.keep)] if options.keep else [])]
    if options.only is not None:
        arguments += ["--only", str(options.only)]
    start, count = time.time(), Count()

    def log(text):
        print(text, flush=True)
        if options.log:
            with open(options.log, "a") as file:
                print(text, file=file)

    def chunks():
        if options.only is not None:
            yield [options.only]
            return
        first = options.seed
        while (time.time() - start < options.hours * 3600) if options.hours else first < options.seed + options.count:
            end = first + options.of if options.hours else min(first + options.of, options.seed + options.count)
            yield list(range(first, end))
            first = end

    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    with ThreadPoolExecutor(options.jobs) as pool:
        coming, running, told = chunks(), set(), 0
        while True:
            while len(running) < options.jobs and (chunk := next(coming, None)):
                running.add(pool.submit(run_chunk, chunk, arguments))
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                for line in future.result():
                    count.add(line, log)
                    if options.reduce and options.keep and line.get("faults") and not line["disputed"]:
                        log(f"graph {line['end']}: {reduce(options.keep, line['end'], *line['faults'][0], options.reduce)}")
            if options.hours and count.models >= told + 100:
                told = count.models
                log(count.summary(time.time() - start))
    log(count.summary(time.time() - start))
    for reason, number in count.reasons.most_common():
        log(f"  {number} x {reason}")
    if options.operators:
        log("  ".join(f"{op} {n}" for op, n in sorted(count.operators.items())))
        log("forms: " + "  ".join(f"{form} {n}" for form, n in sorted(count.forms.items())))
    return 1 if count.failed or (count.refused + count.limited + count.declined + count.disputed) * 20 > count.models or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
