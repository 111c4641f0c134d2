"""Tries a mutant of a pass or of lowering: its file is compiled with its neighbours, as the build does it but with little optimisation, and the programs
of the tests are linked again with that object before the libraries, so that it takes the place of the sound one.
"""
import json
import re
import shlex
import shutil
import threading
from pathlib import Path

from workplace import BUILD, CXX, MEMORY, PLACE, ROOT, digest, link_command, remembered, run, scratch

SANITIZER = ["-fsanitize=address", "-fno-sanitize-recover=all"]
FOLDERS = ("passes", "lowering", "ir", "ops", "select", "support", "tune", "verify", "compress", "quantize", "calibration")  # of tests, for onnxc_tests
SLOW = 1.5  # seconds of a test
SAMPLE = 8  # one of so many node tests
MODELS = 16  # random ones of tests/hostile/graphs.sh


def as_filters(names):
    """Names as Catch2 reads them in a file: a comma would begin another one."""
    return "".join(re.sub(r"([\\,\[\]*~\"])", r"\\\1", name) + "\n" for name in names)


class Passes:
    area = "passes"
    patterns = ["compiler/passes/*.cpp", "compiler/lowering/**/*.cpp"]

    def __init__(self, quick=False):
        self.quick = quick
        self.place = PLACE / "passes"
        self.place.mkdir(parents=True, exist_ok=True)
        self.commands = {entry["file"]: shlex.split(entry["command"]) for entry in json.loads((BUILD / "compile_commands.json").read_text())}
        self.batches = {}  # by file: the source that the build compiles it in
        for batch in (BUILD / "compiler/CMakeFiles").rglob("unity_*.cxx"):
            for file in re.findall(r'#include "([^"]+)"', batch.read_text()):
                self.batches[file] = batch
        self.links = {program: link_command(program) for program in ("onnxc_tests", "conformance", "onnxc")}
        self.sound = set()  # stages that fail nothing without a change
        self.lock = threading.RLock()

    # ---- building --------------------------------------------------------------------------------------------------------------------

    def flags(self, source):
        """What the build tells the compiler about the source, but for warnings, levels and precompiled headers."""
        words, kept = iter(self.commands[str(source)]), []
        for word in words:
            if word in ("-isystem", "-include"):
                value = next(words)
                kept += [word, value] if word == "-isystem" else []
            elif word.startswith(("-D", "-I", "-std=", "-fvisibility")) and word != "-DNDEBUG":
                kept.append(word)
        return [*kept, "-w"]

    def precompiled(self, source, flags):
        """The headers that the build precompiles for the target of this source, with these flags."""
        words = self.commands[str(source)]
        header = next((Path(words[i + 1]) for i, word in enumerate(words) if word == "-include"), None)
        if header is None:
            return []
        copy = self.place / f"{header.parent.stem}{''.join(flag for flag in flags if flag.startswith(('-O', '-f')))}.hxx"
        made = Path(f"{copy}.gch")
        with self.lock:
            if not made.exists():
                shutil.copy(header, copy)
                done = run([CXX, *flags, "-x", "c++-header", copy, "-o", made])
                if done.code != 0:
                    raise RuntimeError(f"{header} is not precompiled:\n{done.output[-2000:]}")
        return ["-include", copy]

    def object_with(self, folder, file, text, more=()):
        """The object of the batch that holds the file, with this text; None where it does not compile."""
        original = str(ROOT / file)
        changed = folder / Path(file).name
        changed.write_text(text)
        batch = self.batches.get(original)
        source = folder / "batch.cpp"
        source.write_text(batch.read_text().replace(f'"{original}"', f'"{changed}"') if batch else f'#include "{changed}"\n')
        of = batch if batch else original
        flags = [*self.flags(of), "-O1" if "/lowering/" in file else "-O0", *more]  # searches for plans take long
        done = run([CXX, *flags, "-iquote", Path(original).parent, *self.precompiled(of, flags), "-c", source, "-o", folder / "batch.o"], 300)
        return folder / "batch.o" if done.code == 0 else None

    def link(self, program, object_, more=()):
        first, objects, libraries = self.links[program]
        made = object_.with_name(program)
        done = run([*first, *objects, object_, *libraries, "-fuse-ld=gold", *more, "-o", made], 200, cwd=BUILD)
        if done.code != 0:
            raise RuntimeError(f"{program} is not linked:\n{done.output[-2000:]}")
        return made

    # ---- tests -----------------------------------------------------------------------------------------------------------------------

    def stages(self):
        yield "onnxc_tests", self.unit_tests
        yield "conformance, compiled only", self.compiles
        yield "conformance", self.conformance
        if self.quick:
            return
        yield "random models", self.random_models
        yield "long onnxc_tests", self.long_tests
        yield "onnxc_tests, sanitized", self.sanitized_tests

    def names(self):
        """Of unit tests, in two lists: the quick ones, and those that take seconds. Without those of what comes after lowering, which call compilers."""

        def make():
            with self.lock, scratch() as folder:
                listed = run([BUILD / "onnxc_tests", "--list-tests", "--verbosity", "high"]).output  # long names are wrapped there
                exact = {" ".join(name.split()): name for name in run([BUILD / "onnxc_tests", "--list-test-names-only"]).output.splitlines()}
                found = [(exact[" ".join(name.split())], of) for name, of in re.findall(r"^  (\S.*(?:\n +[^/\s].*)*)\n +/\S*?/tests/(\w+)/", listed, re.MULTILINE)]
                names = [name for part in FOLDERS for name, of in found if of == part]
                (folder / "names").write_text(as_filters(names))
                times = run([BUILD / "onnxc_tests", "-d", "yes", "-f", folder / "names"]).output
            slow = {name for seconds, name in re.findall(r"^(\d+\.\d+) s: (.*)", times, re.MULTILINE) if float(seconds) > SLOW}
            return [name for name in names if name not in slow], [name for name in names if name in slow]

        return remembered(f"passes/named-{digest([BUILD / 'onnxc_tests'])}.json", make)

    def unit_tests(self, object_, *_):
        return self.tests(self.link("onnxc_tests", object_), self.names()[0], 60)

    def long_tests(self, object_, *_):
        return self.tests(self.link("onnxc_tests", object_), self.names()[1], 300)

    def sanitized_tests(self, object_, file, text):
        """The quick ones. What is not in the batch of the file is not instrumented."""
        sanitized = self.object_with(object_.parent, file, text, SANITIZER)
        return self.tests(self.link("onnxc_tests", sanitized, SANITIZER), self.names()[0], 300, None)

    def tests(self, program, names, seconds, memory=MEMORY):
        list_ = program.with_suffix(".names")
        list_.write_text(as_filters(names))
        done = run(["env", "ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0", program, "--abort", "-f", list_], seconds, memory, cwd=BUILD / "tests")
        if done.code == 0:
            return None
        failed = re.findall(r"^-{50,}\n(.+)\n", done.output, re.MULTILINE)
        return failed[0] if failed else done.why()

    def compiles(self, object_, *_):
        done = run([self.link("conformance", object_), "node", "--jobs", 1, "--compile-limit", 20, "--compile-only"], 900)
        return None if done.code == 0 else (re.findall(r"\btest_\w+", done.output) or [done.why()])[0]

    def conformance(self, object_, *_):
        command = [object_.with_name("conformance"), "node", "--sample", SAMPLE, "--jobs", 1, "--run-limit", 20, "--cxxflags", "-O0 -w"]
        if not command[0].exists():
            self.link("conformance", object_)
        done = run(["env", f"XDG_CACHE_HOME={self.place / 'cache'}", *command], 900)
        return None if done.code == 0 else (re.findall(r"\btest_\w+", done.output) or [done.why()])[0]

    def random_models(self, object_, *_):
        self.link("onnxc", object_)
        done = run(["env", f"ONNXC_BUILD={object_.parent.relative_to(ROOT)}", ROOT / "tests/hostile/graphs.sh", "--count", MODELS], 1200)
        return None if done.code in (0, 77) else done.output.strip().splitlines()[-1][:80] if done.output.strip() else done.why()

    # ---- a mutant --------------------------------------------------------------------------------------------------------------------

    def attempt(self, mutant, _):
        verdict, by = self.judged(mutant.file, mutant.text)
        with self.lock:
            stage = by.split(": ")[0]
            if verdict == "noticed" and stage not in self.sound:  # the same must fail nothing without a change
                if self.judged(mutant.file, (ROOT / mutant.file).read_text(), stage)[0] == "noticed":
                    raise RuntimeError(f"without a change: {by}")
                self.sound.add(stage)
        return verdict, by

    def judged(self, file, text, only=None):
        """By all stages, or by that one."""
        with scratch() as folder:
            object_ = self.object_with(folder, file, text)
            if object_ is None:
                return "invalid", "does not compile"
            for name, stage in self.stages():
                failed = stage(object_, file, text) if only in (None, name) else None
                if failed:
                    return "noticed", f"{name}: {failed}"
        return "survived", ", ".join(name for name, _ in self.stages())
