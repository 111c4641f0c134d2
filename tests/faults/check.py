"""Lets each call of a kind fail in turn (faults.c) and judges what onnxc leaves behind.

    check.py [--all] [--moments N] [--only REGEX]      with $ONNXC_EXECUTABLE; run.sh sets it

A run may end in three ways: with status 1, 3 or 4, one line that says why and the old files as they were; with status 0 and all new files, where a fault
does not matter; by the signal that was sent, with all old files or all new ones. Never with temporary files.
"""
import argparse
import concurrent.futures
import errno
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ONNXC = Path(os.environ["ONNXC_EXECUTABLE"])
LIMIT_SECONDS = 120


def make_model(folder):
    """A small network with weights beside it, and samples of its input."""
    random = np.random.default_rng(1)
    weights = [numpy_helper.from_array(random.standard_normal((8, 16)).astype(np.float32), "w0"),
               numpy_helper.from_array(random.standard_normal((16, 4)).astype(np.float32), "w1")]
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("MatMul", ["b", "w1"], ["y"], name="second")]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "small", [info("x", TensorProto.FLOAT, [2, 8])], [info("y", TensorProto.FLOAT, [2, 4])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    np.save(folder / "samples.npy", random.standard_normal((16, 2, 8)).astype(np.float32)[:, :2])
    np.savez(folder / "samples.npz", x=random.standard_normal((32, 2, 8)).astype(np.float32))


@dataclass
class Way:
    """A command that writes into {out}; `slow` ones are for --all."""
    name: str
    arguments: list[str]
    slow: bool = False
    folder: bool = False  # it makes the whole folder, which must not be there
    varies: tuple[str, ...] = field(default=())  # files whose bytes differ from run to run: they hold times
    appends: str = ""  # a file that grows: what was measured is kept, whatever follows
    remarks: bool = False  # it does without a program that fails, says so, and its files differ then
    lacks: str = ""  # what its file system cannot do: exchange names, nor give files second names (links); faults are then those of names


COMPILE = ["{model}", "--target=generic"]
WAYS = [
    Way("unit", [*COMPILE, "-o", "{out}/m.cpp", "--depfile", "{out}/m.d", "--link-file", "{out}/m.link", "--manifest", "{out}/m.json"]),
    Way("unit, names that are not exchanged", [*COMPILE, "-o", "{out}/m.cpp", "--depfile", "{out}/m.d"], lacks="exchange"),
    Way("unit, files of one name", [*COMPILE, "-o", "{out}/m.cpp", "--depfile", "{out}/m.d"], lacks="links"),
    Way("weights in an object", [*COMPILE, "--weights=object", "-o", "{out}/m.cpp"]),
    Way("weights in a file", [*COMPILE, "--weights=file", "-o", "{out}/m.cpp"]),
    Way("graph", [*COMPILE, "--emit=graph", "-o", "{out}/m.txt"]),
    Way("object", [*COMPILE, "--emit=object", "-o", "{out}/m.o", "--depfile", "{out}/m.d"]),
    Way("library", [*COMPILE, "--emit=shared", "-o", "{out}/m.so"]),
    Way("report", ["report", *COMPILE, "-o", "{out}/m.html", "--json", "{out}/m.json"], slow=True, remarks=True),
    Way("package", ["package", *COMPILE, "--as", "zephyr", "-o", "{out}/m"], folder=True),
    Way("results", ["run", *COMPILE, "--output", "{out}"]),
    Way("quantised", ["quantize", "{model}", "--target=generic", "--calibration", "{samples}", "-o", "{out}/q.onnx", "--report", "{out}/q.json"], slow=True),
    Way("compressed", ["compress", "{model}", "--target=generic", "--calibration", "{samples}", "-o", "{out}/c.onnx", "--report", "{out}/c.json"], slow=True,
        varies=("c.json",)),
    Way("times", ["tune", "{model}", "--seconds=0.01", "--tune-cache", "{out}/tune.json", "--fresh"], slow=True, varies=("tune.json",), appends="tune.json"),
]


@dataclass
class Fault:
    kind: str
    does: str = "fail"
    number: int = errno.EIO
    usual: int = 4  # moments of a quick run
    most: int = 400  # of --all

    def text(self, at):
        return f"{self.kind} {at} {self.does}" + (f" with {errno.errorcode[self.number]}" if self.does in ("fail", "from") else "")


FAULTS = [
    Fault("alloc", usual=8, most=3000),
    Fault("open"),
    Fault("open", number=errno.EMFILE, usual=1),
    Fault("read"),
    Fault("read", "short"),
    Fault("write"),
    Fault("write", "from", errno.ENOSPC),
    Fault("write", "short", usual=2),
    Fault("close", number=errno.EDQUOT),
    Fault("rename"),
    Fault("start", number=errno.EAGAIN),
    Fault("write", "signal"),
    Fault("rename", "signal"),
    Fault("write", "vanish", usual=2),
    Fault("rename", "vanish", usual=2),
]


def moments(count, most):
    """The first, the last, and others evenly between: at the end are those of writing."""
    if count <= most:
        return list(range(1, count + 1))
    if most == 1:
        return [count // 2]
    return sorted({1 + round(k * (count - 1) / (most - 1)) for k in range(most)} | ({count - 1} if most > 4 else set()))


def contents(folder):
    """What is in the folder, whose own name some files hold."""
    if not folder.exists():
        return None
    return {str(p.relative_to(folder)): p.read_bytes().replace(str(folder).encode(), b"{out}") for p in sorted(folder.rglob("*")) if p.is_file()}


class Bench:
    def __init__(self, onnxc, work, way):
        self.onnxc, self.work, self.way = onnxc, work, way
        self.root = work / re.sub(r"\W", "_", way.name)
        self.root.mkdir()
        self.numbers = itertools.count()
        self.new = self.reference()

    def run(self, place, old, fault=None, at=0, count=None, before=None):
        """The status, standard error and what is in the output folder after a run in a place of its own, where `old` lies already."""
        out, scratch, cache = place / "out", place / "tmp", self.root / "cache"
        out.mkdir(parents=True)
        scratch.mkdir()
        cache.mkdir(exist_ok=True)
        for name, data in (old or {}).items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(data)
        words = {"model": self.work / "model.onnx", "samples": self.work / "samples.npz", "out": out}
        command = [str(self.onnxc), *(a.format(**words) for a in self.way.arguments)]
        environment = {**os.environ, "TMPDIR": str(scratch), "ONNXC_CACHE": str(cache), "LD_PRELOAD": str(self.work / "faults.so"), "LC_ALL": "C"}
        if self.way.lacks:
            environment["FAULT_LACKS"] = self.way.lacks
        if fault:
            environment |= {"FAULT_KIND": fault.kind, "FAULT_DOES": fault.does, "FAULT_ERRNO": str(fault.number), "FAULT_SIGNAL": str(int(signal.SIGTERM)),
                            "FAULT_FOLDER": str(out)}
        if at:
            environment["FAULT_AT"] = str(at)
        if count:
            environment["FAULT_COUNT"] = str(count)
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, preexec_fn=before)
        except subprocess.TimeoutExpired:
            return None, "", None, []
        left = [p.name for p in scratch.iterdir()]
        left += [p.name for p in (cache / "units").glob("*") if p.suffix not in (".so", ".o", ".ci") and f".{self.last_pid(p)}" in p.name]
        return done.returncode, done.stderr.decode(errors="replace"), contents(out), left

    @staticmethod
    def last_pid(path):
        return path.name.split(".")[1] if "." in path.name else ""

    def reference(self):
        status, errors, new, left = self.run(self.root / "reference", None)
        if status != 0 or left:
            sys.exit(f"{self.way.name}: without a fault, status {status}, left {left}: {errors}")
        self.run(self.root / "again", None)  # what is compiled lies in the cache now
        return new

    def old(self):
        if self.way.folder:
            return {}
        if self.way.appends:
            return {self.way.appends: self.new[self.way.appends]}
        return {name: b"old " + name.encode() for name in self.new}

    def calls(self, fault):
        count = self.root / f"count_{fault.kind}"
        if not count.exists():
            place = self.root / f"counted_{fault.kind}"
            status, errors, _, _ = self.run(place, self.old(), fault, count=count)
            shutil.rmtree(place)
            if status != 0:
                sys.exit(f"{self.way.name}: counting {fault.kind}, status {status}: {errors}")
        return int(count.read_text())

    def is_new(self, found):
        return found is not None and found.keys() == self.new.keys() and all(found[n] == self.new[n] or n in self.way.varies for n in found)

    def has_grown(self, old, found):
        """Whether the file of JSON is whole, and holds all that it held."""
        before, after = (json.loads(files[self.way.appends]) for files in (old, found))
        return before["settings"].keys() <= after["settings"].keys()

    def judge(self, status, errors, found, left, old, fault):
        """What is wrong, as texts."""
        wrong = [f"left {left}"] if left else []
        if status is None:
            return [f"still running after {LIMIT_SECONDS} s"]
        lines = [line for line in errors.splitlines() if line != "Schema error: std::bad_alloc"]  # ONNX's own
        remarks = [line for line in lines if line.startswith("onnxc: ") and not line.startswith("onnxc: error[")]
        gone = found is None or (fault and fault.does == "vanish" and found == {})
        if status == 0:
            differs = self.way.remarks and remarks and found and found.keys() == self.new.keys()
            if not self.is_new(found) and not gone and not differs:
                wrong.append(f"status 0, with {sorted(found)} of {sorted(self.new)}")
        elif status in (1, 3, 4):
            says = [line for line in lines if line.startswith("onnxc: error[")]
            if len(says) != 1 or says != lines[-1:] or len(lines) > len(remarks) + 1 or "bug" in errors:
                wrong.append(f"says {errors.strip()[:300]!r}")
            if found != old and not gone and not (self.way.appends and self.has_grown(old, found)):
                wrong.append(f"status {status}, and {sorted(found)} are not as they were, which was {sorted(old)}: {[(n, len(d), d[:40]) for n, d in found.items()]}")
        elif status == -signal.SIGTERM and fault and fault.does == "signal":
            if found != old and not self.is_new(found):
                wrong.append(f"ended by the signal, with {sorted(found)} neither old nor new")
        else:
            wrong.append(f"status {status}: {errors.strip()[:300]}")
        return wrong

    def meet(self, fault, at):
        place = self.root / f"{next(self.numbers)}"
        old = self.old()
        answer = self.run(place, old, fault, at)
        wrong = self.judge(*answer, old, fault)
        shutil.rmtree(place, ignore_errors=True)
        return [f"{self.way.name}, {fault.text(at)}: {w}" for w in wrong], answer[0]

    def meet_small_disk(self, bytes_left):
        """A limit for the size of files, which sends a signal to who does not expect it."""
        place, old = self.root / f"small_{bytes_left}", self.old()
        answer = self.run(place, old, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, bytes_left)))
        wrong = self.judge(*answer, old, None)
        shutil.rmtree(place, ignore_errors=True)
        return [f"{self.way.name}, files of at most {bytes_left} bytes: {w}" for w in wrong], answer[0]


COMPILER = """#!/bin/sh
[ "$1" = --version ] && {{ echo "slow 1"; exit; }}
{trap}
sleep 1000 &
echo $$ $! > "{pids}.new"
mv "{pids}.new" "{pids}"
wait
sleep 1000
"""


def is_alive(pid):
    """A process that nobody has waited for is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def end_with_compiler(onnxc, work, name, trap, options, send):
    """A compiler that never ends, with a child, has to end with onnxc: by the limit of time, or by the signal `send`."""
    place = work / name
    (place / "tmp").mkdir(parents=True)
    compiler, pids, out = place / "compiler", place / "pids", place / "m.o"
    compiler.write_text(COMPILER.format(trap=trap, pids=pids))
    compiler.chmod(0o755)
    out.write_bytes(b"old")
    environment = {**os.environ, "ONNXC_CXX": str(compiler), "ONNXC_CACHE": str(place / "cache"), "TMPDIR": str(place / "tmp")}
    command = [str(onnxc), str(work / "model.onnx"), "--target=generic", "--emit=object", "-o", str(out), *options]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while send and not pids.exists() and process.poll() is None:
        time.sleep(0.02)
    if send:
        process.send_signal(send)
    try:
        _, errors = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return [f"{name}: onnxc waits for the compiler"]
    wrong = []
    if process.returncode != (-send if send else 4) or (not send and b"--timeout" not in errors) or errors.count(b"\n") != (0 if send else 1):
        wrong.append(f"{name}: status {process.returncode}: {errors[:300]}")
    wrong += [f"{name}: process {pid} is still there" for pid in (pids.read_text().split() if pids.exists() else ["none"]) if pid == "none" or is_alive(pid)]
    left = [p.name for folder in (place / "tmp", place / "cache" / "units") for p in folder.glob("*")]
    if left or out.read_bytes() != b"old":
        wrong.append(f"{name}: left {left}, and {out.read_bytes()[:20]}")
    return wrong


def reader_that_goes(onnxc, work):
    """As `head` does: onnxc ends as others do in a pipe, and temporary files go."""
    place = work / "pipe"
    (place / "tmp").mkdir(parents=True)
    (place / "out").mkdir()
    wrong = []
    for arguments in (["info", "{m}"], ["{m}", "--emit=graph"], ["quantize", "{m}", "--calibration", str(work / "samples.npz"), "-o", str(place / "out" / "q.onnx")]):
        reading, writing = os.pipe()
        os.close(reading)
        command = [str(onnxc), *(a.format(m=work / "model.onnx") for a in arguments), "--target=generic"]
        environment = {**os.environ, "TMPDIR": str(place / "tmp"), "ONNXC_CACHE": str(work / "quantised_pipe")}
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        left = [p.name for folder in ("tmp", "out") for p in (place / folder).iterdir() if p.name != "q.onnx"]  # which is whole by then
        if done.returncode != -signal.SIGPIPE or b"error" in done.stderr or left:
            wrong.append(f"a pipe that nobody reads, {arguments[0]}: status {done.returncode}, left {left}: {done.stderr[:200]}")
    return wrong


def full_disks(onnxc, work):
    """A file system of a few pages for what is written, and one for what the compiler writes meanwhile."""
    place = work / "full"
    script = 'mount -t tmpfs -o size=$1 none "$2" && shift 2 && exec "$@"'
    (place / "small").mkdir(parents=True)
    if subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "4k", str(place / "small"), "true"], capture_output=True).returncode != 0:
        print("  (no file system of a few pages can be made here)")
        return []
    wrong = []
    model = [str(onnxc), str(work / "model.onnx"), "--target=generic"]
    for name, arguments, environment in (("a full disk", ["-o", str(place / "small" / "m.cpp")], {}),
                                         ("a full disk for binaries", ["--emit=object", "-o", str(place / "small" / "m.o")], {}),
                                         ("a full disk for temporary files", ["--emit=object", "-o", str(place / "m.o")], {"TMPDIR": str(place / "small")}),
                                         ("a full disk for the cache", ["--emit=object", "-o", str(place / "m.o")], {"ONNXC_CACHE": str(place / "small")})):
        cache = place / name.replace(" ", "_")
        command = ["unshare", "-m", "sh", "-c", script, "sh", "4k", str(place / "small"), *model, *arguments]
        done = subprocess.run(command, env={**os.environ, "ONNXC_CACHE": str(cache), **environment}, stdin=subprocess.DEVNULL, capture_output=True)
        errors = done.stderr.decode(errors="replace")
        if done.returncode != 3 or errors.count("\n") != 1 or not errors.startswith("onnxc: error[") or (place / "m.o").exists():
            wrong.append(f"{name}: status {done.returncode}: {errors[:300]}")
    return wrong


def check(work, options):
    subprocess.run(["cc", *"-std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC".split(), Path(__file__).with_name("faults.c"), "-o", work / "faults.so"], check=True)
    make_model(work)
    start, failures, statuses, runs = time.monotonic(), [], {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ways = [w for w in WAYS if re.search(options.only, w.name) and (options.all or options.only or not w.slow)]
        for bench in pool.map(lambda way: Bench(ONNXC, work, way), ways):
            jobs = []
            for fault in [f for f in FAULTS if not bench.way.lacks or f.kind in ("rename", "close")]:
                most = options.moments or (fault.most if options.all else fault.usual)
                jobs += [(bench.meet, fault, at) for at in moments(bench.calls(fault), most)]
            jobs += [(bench.meet_small_disk, size) for size in ((0, 100, 1000, 10000) if options.all else (100,))]
            for wrong, status in pool.map(lambda job: job[0](*job[1:]), jobs):
                failures += wrong
                statuses[status] = statuses.get(status, 0) + 1
                runs += 1
            print(f"  {bench.way.name}: {len(jobs)} faults", flush=True)
    if options.only in ("", "none"):
        enough = "--timeout=5"  # for a busy machine to come to the compiler
        ends = [("the limit of time", "", [enough], None), ("the limit of time and a compiler that stays", "trap '' TERM", [enough], None),
                *((sent.name, "", [], sent) for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))]
        with concurrent.futures.ThreadPoolExecutor(len(ends)) as pool:
            for wrong in pool.map(lambda end: end_with_compiler(ONNXC, work, *end), ends):
                failures += wrong
        failures += full_disks(ONNXC, work)
        failures += reader_that_goes(ONNXC, work)
    for failure in failures:
        print(f"FAILED  {failure}")
    ends = ", ".join(f"{n} with status {s}" if s is None or s >= 0 else f"{n} by {signal.Signals(-s).name}" for s, n in sorted(statuses.items(), key=str))
    print(f"faults: {runs} runs ({ends}), {len(failures)} failed, in {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--moments", type=int, help="how many of each kind, instead of a few or with --all hundreds")
    parser.add_argument("--only", default="", help="names of commands; or 'none', for what is done once")
    options = parser.parse_args()
    for ignored in (signal.SIGINT, signal.SIGHUP):  # by shells, of what runs in the background
        signal.signal(ignored, signal.SIG_DFL)
    settings = ONNXC.parent / "CMakeCache.txt"
    if settings.exists() and re.search(r"^ONNXC_SANITIZE:STRING=.", settings.read_text(), re.MULTILINE):
        print("(a sanitizer has an allocator of its own)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        sys.exit(check(Path(work).resolve(), options))


main()
