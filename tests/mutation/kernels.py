"""Tries a mutant of a kernel: the runtime's headers are copied, one is changed, and programs of tests/kernels are built with the copy, without
optimisation. What they do not notice is left to the address sanitizer, and then to ONNX's backend tests.

A program is of use where it runs the line that was changed. gcov says so, once for each program, when it is first asked about.
"""
import gzip
import json
import os
import re
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

from workplace import BUILD, CXX, MEMORY, PLACE, ROOT, digest, link_command, remembered, run, scratch

RUNTIME = ROOT / "runtime_stub"
FLAGS = ["-std=c++20", "-O0", "-w", "-pthread", "-D_GLIBCXX_ASSERTIONS", "-DFMT_SHARED"]
SANITIZER = ["-fsanitize=address", "-fno-sanitize-recover=all"]
MOST_PROGRAMS = 6  # that run the changed line; the next ones run it with what others of these do, too
MOST_SANITIZED = 1
MOST_CASES = 40
WHOLE = "conformance"
# Where operators have other names than headers: a part of a header's path, and a regular expression.
OPERATORS = {"forest": "TreeEnsemble", "trees": "TreeEnsemble", "svm": "SVM", "ml/scores": "Classifier", "recurrent": "LSTM|GRU|RNN", "nbits": "NBits", "bytes": "QLinear|Integer",
             "text/regex": "Regex|Token", "text/text_features": "NGram|TfIdf|Hash|Token"}


@dataclass(frozen=True)
class Program:
    """A file of tests, as tests/CMakeLists.txt compiles it."""
    source: str  # without its ending; below tests/kernels, or ../ops
    flags: tuple

    @property
    def name(self):
        return self.source + "".join(" " + flag.removeprefix("-D").removeprefix("-march=") for flag in self.flags if flag not in ("-march=native", "-DONNXC_NO_INTRINSICS"))

    @property
    def path(self):
        return ROOT / f"tests/kernels/{self.source}.cpp"

    @property
    def stem(self):
        return re.sub(r"\W+", "-", self.name).strip("-")


def programs():
    found = [Program(str(path.relative_to(ROOT / "tests/kernels").with_suffix("")), ("-march=native",)) for path in sorted((ROOT / "tests/kernels").rglob("*.cpp"))]
    found += [Program(f"../ops/{name}", ("-march=native",)) for name in ("text_features", "regex", "automaton", "key_table")]
    for words in re.findall(r"^ *add_vector_tests\((\w[^)$]*)\)", (ROOT / "tests/CMakeLists.txt").read_text(), re.MULTILINE):
        flags = tuple(word for word in words.split() if word.startswith("-"))
        found += [Program(source, flags) for source in ("vfn", *re.findall(r"kernels/(\w+)\.cpp", words))]
    return found


class Kernels:
    area = "kernels"
    patterns = ["runtime_stub/onnxc/**/*.hpp"]

    def __init__(self, quick=False):
        self.quick = quick
        self.place = PLACE / "kernels"
        self.place.mkdir(parents=True, exist_ok=True)
        self.programs = programs()
        self.headers = digest(sorted([*RUNTIME.rglob("*.h*"), *(ROOT / "tests/kernels").rglob("*.hpp")]))
        self.libraries = None
        self.coverage_of, self.read_by = {}, {}
        self.lock = threading.RLock()

    # ---- programs --------------------------------------------------------------------------------------------------------------------

    def compile(self, program, root, folder, more=()):
        """The Ended of the compiler. `root` has the headers that count."""
        made = folder / f"{program.stem}.o"
        return made, run([CXX, *FLAGS, *program.flags, *more, f"-I{root}", f"-I{root}/runtime_stub", f"-I{ROOT}", "-c", program.path, "-o", made], 300)

    def link(self, object_, more=()):
        if self.libraries is None:
            self.libraries = link_command("onnxc_kernel_tests")[2]
        made = object_.with_suffix("")
        done = run([CXX, "-pthread", *more, object_, BUILD / "tests/CMakeFiles/catch_main.dir/catch_main.cpp.o", *self.libraries, "-o", made, "-fuse-ld=gold"], 100, cwd=BUILD)
        if done.code != 0:
            raise RuntimeError(f"{object_} is not linked:\n{done.output[-2000:]}")
        return made

    def coverage(self, program):
        """Of each header of the runtime the lines that the program compiles, with how often it runs them; what it includes; seconds."""

        def make():
            with scratch() as folder:
                return covered(folder)

        def covered(folder):
            built, done = self.compile(program, ROOT, folder, ["--coverage", "-MMD"])
            if done.code != 0:
                raise RuntimeError(f"{program.name} does not compile:\n{done.output[-2000:]}")
            ran = run([self.link(built, ["--coverage"]), "~[!benchmark]"], 600)
            if ran.code != 0:
                raise RuntimeError(f"{program.name} fails without a fault: {ran.why()}\n{ran.output[-2000:]}")
            run(["gcov", "-j", "-o", built, built], 600, cwd=folder)
            lines = {}
            for report in folder.glob("*.gcov.json.gz"):
                for file in json.loads(gzip.decompress(report.read_bytes()))["files"]:
                    path = Path(file["file"])
                    if "runtime_stub/onnxc" in file["file"]:
                        counts = lines.setdefault("runtime_stub/onnxc/" + file["file"].split("runtime_stub/onnxc/")[1], {})
                        for line in file["lines"]:
                            number = line["line_number"]
                            counts[number] = counts.get(number, 0) + line["count"]
            return {"lines": lines, "build": done.seconds, "run": ran.seconds}

        with self.lock:
            if program not in self.coverage_of:
                self.coverage_of[program] = remembered(f"kernels/{program.stem}-{digest([program.path], self.headers)}.json", make)
            return self.coverage_of[program]

    def includes(self, program):
        """The headers of the runtime that a program reads."""

        def make():
            done = run([CXX, *FLAGS, *program.flags, f"-I{ROOT}", f"-I{RUNTIME}", "-MM", program.path])
            return sorted({"runtime_stub/onnxc/" + part for part in re.findall(r"runtime_stub/onnxc/(\S+)", done.output)})

        with self.lock:
            if program not in self.read_by:
                self.read_by[program] = remembered(f"kernels/{program.stem}-{digest([program.path], self.headers)}.includes", make)
            return self.read_by[program]

    def candidates(self, header):
        """Programs that read the header, those first that are most about it: of its name, and with the fewest other headers."""
        stem = Path(header).stem
        folder = "gpu/" if "/gpu/" in header else ""

        def distance(program):
            same = program.source == folder + stem
            alike = program.source.startswith(folder) and any(part in Path(program.source).stem.split("_") for part in stem.split("_"))
            return (not same, not alike, len(self.includes(program)))

        return sorted((p for p in self.programs if header in self.includes(p)), key=distance)

    def counts(self, program, mutant):
        """How often the program runs what was changed; None where the compiler makes no code of it that has a line."""
        lines = self.coverage(program)["lines"].get(mutant.file, {})
        for away in (0, -1, 1, -2, 2):
            count = lines.get(str(mutant.line + away), lines.get(mutant.line + away))
            if count is not None:
                return count
        return None

    def differs(self, program, root):
        """Whether what the compiler sees has changed: code for other machines has not."""
        texts = [run([CXX, *FLAGS, *program.flags, f"-I{r}", f"-I{r}/runtime_stub", f"-I{ROOT}", "-E", "-P", program.path]).output for r in (ROOT, root)]
        return texts[0] != texts[1]

    # ---- ONNX's backend tests --------------------------------------------------------------------------------------------------------

    def cases_of(self):
        """By header of the runtime, the node tests whose units include it directly."""

        def make():
            names = [line for line in run([BUILD / "conformance", "node", "--list"]).output.split() if line.startswith("test_")]
            cases = {}
            with scratch() as folder:
                run([BUILD / "conformance", "node", "--keep", folder, "--jobs", 1], 3600)
                for unit in folder.rglob("case_*.cpp"):
                    for header in re.findall(r"#include <(onnxc/[^>]+)>", unit.read_text(errors="replace")):
                        cases.setdefault("runtime_stub/" + header, []).append(names[int(unit.stem[5:])])
            return {header: sorted(found) for header, found in cases.items()}

        return remembered(f"kernels/cases-{digest([BUILD / 'conformance'])}.json", make)

    def included_by(self, header):
        """The header and those that include it, at any depth, in that order."""
        if not hasattr(self, "includers"):
            self.includers = {}
            for path in sorted(RUNTIME.rglob("*.hpp")):
                for other in re.findall(r'#include "([^"]+)"', path.read_text()):
                    self.includers.setdefault(os.path.relpath(path.parent / other, ROOT), []).append(str(path.relative_to(ROOT)))
        found = [header]
        for each in found:
            found += [other for other in self.includers.get(each, []) if other not in found]
        return found

    def chosen_cases(self, header, random):
        cases = self.cases_of()
        chosen = []
        for each in self.included_by(header):
            more = [name for name in cases.get(each, []) if name not in chosen]
            chosen += random.sample(more, min(len(more), MOST_CASES - len(chosen)))
        return chosen

    def conformance(self, root, cases):
        """The first case that fails, or None."""
        done = run(["env", f"ONNXC_RUNTIME_DIR={root}/runtime_stub", f"XDG_CACHE_HOME={PLACE / 'kernels' if root == ROOT else root}/cache", BUILD / "conformance", "node", "--filter", f"^({'|'.join(cases)})$", "--jobs", 1,
                    "--run-limit", 20, "--cxxflags", "-O0 -w"], 900)
        if done.code == 0:
            return None
        failed = re.findall(r"\btest_\w+", done.output)
        if failed and root != ROOT and self.conformance(ROOT, failed[:1]):
            raise RuntimeError(f"{failed[0]} fails without a change")
        return failed[0] if failed else done.why()

    # ---- operators against ONNX Runtime ----------------------------------------------------------------------------------------------

    def operators(self, header):
        """Regular expressions for names of operators: of the header's own name, and of the rows that the kernel catalogue has for it."""
        if not hasattr(self, "rows"):
            self.rows = {}
            for table in (ROOT / "targets/kernels").glob("*.inc"):
                for name, of in re.findall(r'\.name = "(?:scalar_)?(\w+)", \.header = "([^"]+)"', table.read_text()):
                    self.rows.setdefault(of, []).append(name)
        names = [Path(header).stem, *self.rows.get(header.removeprefix("runtime_stub/onnxc/"), [])]
        others = [operators for word, operators in OPERATORS.items() if word in header]
        return [*dict.fromkeys([*(name.replace("_", "") for name in names), *others])]

    def contributed(self, root, header):
        """What fails of the tests against ONNX Runtime that are about the header's operators."""
        pattern = "|".join(self.operators(header))
        commands = [["tests/contrib/check.py", pattern]]
        for script in ("tests/ml/check.py", "tests/text/check.py"):
            names = [name for name in re.findall(r"^def (\w+)\(r\)", (ROOT / script).read_text(), re.MULTILINE) if re.search(pattern, name, re.IGNORECASE)]
            if names and "/scalar/" in header:
                commands.append([script, "--rounds", 3, *names])
        if "winograd" in header or "strassen" in header:
            commands.append(["tests/numerics/check.py"])
        for command in commands:
            done = self.python(root, command)
            if done.code != 0 and "no check has such" not in done.output and "No module named" not in done.output:
                sound = self.python(ROOT, command)
                if sound.code != 0:
                    raise RuntimeError(f"{command} fails without a change: {sound.why()}\n{sound.output[-2000:]}")
                return (re.findall(r"FAILED (\w+)", done.output) or [done.why()])[0]
        return None

    def python(self, root, command):
        cache = PLACE / "kernels" if root == ROOT else root
        return run(["env", f"ONNXC_RUNTIME_DIR={root}/runtime_stub", f"ONNXC_CACHE={cache}/cache", f"ONNXC_EXECUTABLE={BUILD}/onnxc", "PYTHONPATH=python",
                    os.environ.get("ONNXC_PYTHON", "python3"), *command], 900, cwd=ROOT)

    # ---- a mutant --------------------------------------------------------------------------------------------------------------------

    def attempt(self, mutant, random):
        """(verdict, by whom): noticed, survived, unreached, or invalid."""
        with scratch() as root:
            return self.attempt_in(root, mutant, random)

    def attempt_in(self, root, mutant, random):
        shutil.copytree(RUNTIME / "onnxc", root / "runtime_stub/onnxc")
        (root / mutant.file).write_text(mutant.text)
        read = self.candidates(mutant.file)
        counts = {program: self.counts(program, mutant) for program in read}
        running = [program for program in read if counts[program]][:MOST_PROGRAMS]
        # Code without a line of its own: what the compiler computes, or leaves out.
        running += [program for program in read if counts[program] is None and self.differs(program, root)][:MOST_PROGRAMS - len(running)]
        for program in running:
            verdict = self.ask(program, root)
            if verdict is None:
                return "invalid", "does not compile"
            if verdict:
                return "noticed", program.name
        for program in running[:0 if self.quick else MOST_SANITIZED]:
            if self.ask(program, root, SANITIZER):
                return "noticed", f"{program.name}, sanitized"
        cases = self.chosen_cases(mutant.file, random)
        if cases:
            failed = self.conformance(root, cases)
            if failed:
                return "noticed", f"{WHOLE}: {failed}"
        failed = self.contributed(root, mutant.file)
        if failed:
            return "noticed", f"contrib: {failed}"
        if read and not running and not cases and all(count is None for count in counts.values()):
            return "invalid", "code of another machine"
        return ("survived", f"{len(running)} programs, {len(cases)} cases") if running else ("unreached", f"no program, {len(cases)} cases")

    def fails(self, program, mutant):
        """Whether the program fails with the mutant, or without a change where that is None."""
        with scratch() as root:
            shutil.copytree(RUNTIME / "onnxc", root / "runtime_stub/onnxc")
            if mutant is not None:
                (root / mutant.file).write_text(mutant.text)
            return self.ask(program, root, limit=60)

    def ask(self, program, root, more=(), limit=None):
        """Whether the program fails with these headers; None where it does not compile."""
        built, done = self.compile(program, root, root, more)
        if done.code != 0:
            return None
        limit = limit or 5 + 4 * self.coverage(program)["run"] * (3 if more else 1)
        return run([self.link(built, more), "~[!benchmark]", "--abort"], limit, None if more else MEMORY).code != 0
