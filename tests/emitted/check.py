"""What is promised of emitted files, checked with the compilers that are here.

    check.py ONNXC RUNTIME_FOLDER SAMPLES_FOLDER [MODEL.onnx...]

  - they compile without a warning or a note about the ABI, with every compiler, for every target, with the runtime beside or pasted in;
  - clang-tidy's bugprone checks find nothing in them, nor in the runtime's headers that they use;
  - they need nothing but libc's memory functions and libm: no heap, no exceptions, no I/O;
  - the same input gives the same bytes, from any folder;
  - every form of weights gives the same result;
  - units for different machines live in one program, compiled with different flags, and all are right;
  - a unit compiled for another machine than it was made for is refused by the compiler;
  - no line is longer than 140 columns, but for literals, assembly, and what is pasted in.
"""
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import models
import numpy as np
import onnx

sys.path.append(str(Path(__file__).parents[1]))
from side_by_side import executor  # noqa: E402

WARNINGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-sign-conversion", "-Wshadow", "-Werror"]
NOT_BUGS = {
    "easily-swappable-parameters": "kernels take pointers, sizes and strides of one type each",
    "implicit-widening-of-multiplication-result": "products of a vector's length and a tile's sizes, which are constants below 100, become indices",
    "infinite-loop": "it does not see that structured bindings change",
    "macro-parentheses": "arguments that are names of types or of functions",
    "branch-clone": "cases of one result stand in the order of the definition",
}
HERE = Path(__file__).resolve().parent
FEATURES = set(re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].split())
RUNS = {"native": True, "generic": True, "x86-64-v2": "sse4_2" in FEATURES, "x86-64-v3": {"avx2", "fma"} <= FEATURES, "x86-64-v4": {"avx512f", "avx512vl"} <= FEATURES}
TARGETS = [t for t, runs in RUNS.items() if runs]
FORMS = ["auto", "array", "asm", "string", "incbin", "object", "file", "section:.onnxc_weights"]

SAMPLE_OPTIONS = {"custom_operator": ["--custom-op", "geo.Haversine=haversine.hpp:geo::haversine, y0 = x0[x0.0, x1.0], y1 = int64[x0.0]"]}
OF_USERS = {"bcmp", "__gxx_personality_v0"}  # of a custom operator's function, which compares strings
ALLOWED = {"memcpy", "memset", "memmove", "memcmp", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail", "__tls_get_addr"}

failures = 0


def fail(what, why=""):
    global failures
    failures += 1
    print(f"FAILED  {what}{': ' + why[:2500] if why else ''}", flush=True)


def call(what, command, wanted=0, **options):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, **options)
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode != wanted:
        fail(what, output or f"exit status {done.returncode}")
        return None
    return output


def found(*programs):
    return [p for p in programs if subprocess.run(["which", p], capture_output=True).returncode == 0]


def march(target, host_has_gcc=True):
    return [] if target == "generic" else [f"-march={target}"]


def libm_symbols():
    path = subprocess.run(["g++", "-print-file-name=libm.so.6"], capture_output=True, text=True).stdout.strip()
    table = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in table.splitlines()}


def undefined(object_file):
    table = subprocess.run(["nm", "-u", str(object_file)], capture_output=True, text=True).stdout
    return {line.split()[-1] for line in table.splitlines()}


class Checks:
    def __init__(self, onnxc, runtime, root):
        self.onnxc, self.runtime, self.root = onnxc, runtime, root
        self.compilers = found("g++", "clang++-14", "clang++-19") or found("c++")
        self.libm = libm_symbols()
        self.pool = executor()

    def emit(self, model, out, *options):
        out.parent.mkdir(parents=True, exist_ok=True)
        output = call(f"{out.stem}: onnxc {' '.join(options)}", [self.onnxc, model, "-o", out, *options])
        if output is not None and "--standalone" not in options:
            self.lines(out)
            self.lines(out.with_suffix(".h"))
        return output

    def lines(self, path):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if len(line) <= 140 or line.startswith("#"):
                continue
            without_literals = line if line.lstrip().startswith("//") else re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
            if len(without_literals) > 140:
                fail(f"{path.name}: line {number} has {len(line)} columns", line)

    def compile(self, what, compiler, source, object_file, *flags):
        said = call(f"{what} with {compiler} {' '.join(flags)}", [compiler, *WARNINGS, "-c", source, "-o", object_file, *flags])
        if said is None:
            return
        if "note:" in said:
            fail(f"{what} with {compiler} {' '.join(flags)}", said)
        if "-O0" in flags:
            return  # nothing is promised of the symbols of code that nobody optimised
        strange = undefined(object_file) - ALLOWED - self.libm - (OF_USERS if source.stem in SAMPLE_OPTIONS else set())
        strange = {s for s in strange if not re.fullmatch(r"\w+_weights(_pointer)?", s)}
        if strange:
            fail(f"{what} with {compiler} {' '.join(flags)}", "needs " + " ".join(sorted(strange)))

    def matrix(self, model, name, targets, forms, level="-O1", options=()):
        """Emits and compiles; forms: beside (the runtime by include), pasted, plain (pasted, without xsimd)."""
        jobs = []
        for target, form in itertools.product(targets, forms):
            folder = self.root / name / f"{target}_{form}"
            self.emit(model, folder / f"{name}.cpp", "--target", target, *(["--standalone"] if form != "beside" else []), *options)
            for compiler in self.compilers:
                flags = [level, *march(target), *(["-I", str(self.runtime)] if form == "beside" else []), *(["-DONNXC_NO_INTRINSICS"] if form == "plain" else [])]
                if options:
                    flags += ["-I", str(model.parent)]  # headers of custom operators
                jobs.append((f"{name} for {target}, {form}", compiler, folder / f"{name}.cpp", folder / f"{compiler}.o", *flags))
        list(self.pool.map(lambda job: self.compile(*job), jobs))

    def tidy(self, names):
        """Units that `matrix` has emitted."""
        tools = found("clang-tidy-14") or found("clang-tidy")
        if not tools:
            return print("(no clang-tidy)")
        checks = ",".join(["-*", "bugprone-*", *(f"-bugprone-{name}" for name in NOT_BUGS)])

        def one(name):
            source = self.root / name / "native_beside" / f"{name}.cpp"
            call(f"{name}: clang-tidy", [tools[0], "--quiet", f"--checks={checks}", "--warnings-as-errors=*", "--header-filter=onnxc/", source, "--", "-std=c++20", "-w", *march("native"),
                                         "-I", self.runtime])

        list(self.pool.map(one, names))

    def same_bytes(self, model, name):
        """Emitted again from another folder, to another folder, with the model at another path."""
        texts = []
        for k, folder in enumerate(("one", "two/deeper")):
            work = self.root / "bytes" / folder
            work.mkdir(parents=True)
            copy = work / Path(model).name
            copy.write_bytes(Path(model).read_bytes())
            out = work / f"out{k}"
            out.mkdir()
            arguments = [copy.name, "-o", f"out{k}/{name}.cpp"] if k == 0 else [copy, "-o", out / f"{name}.cpp"]
            for standalone in ([], ["--standalone"]):
                call(f"{name}: emit", [self.onnxc, *arguments, *standalone], cwd=work if k == 0 else self.root)
                texts.append([(p.name, p.read_bytes()) for p in sorted(out.iterdir())])
        subprocess.run(["rm", "-r", str(self.root / "bytes")])
        if texts[0] != texts[2] or texts[1] != texts[3]:
            fail(f"{name}: bytes differ from folder to folder")

    def feed(self, model, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for k, array in enumerate(model.feeds.values()):
            (folder / f"input_{k}.bin").write_bytes(array.tobytes())

    def judge(self, what, model, folder, names):
        for name in names:
            for k, wanted in enumerate(model.expected()):
                path = folder / f"{name}_output_{k}.bin"
                got = np.frombuffer(path.read_bytes(), wanted.dtype).reshape(wanted.shape) if path.exists() else None
                if got is None or not np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=model.tolerance, atol=model.tolerance):
                    fail(what, f"{name} is wrong: largest error {'?' if got is None else np.abs(got.astype(np.float64) - wanted).max()}")

    def link_and_run(self, what, model, folder, names, objects, *flags):
        program = folder / "program"
        list_of_models = " ".join(f"M({n})" for n in names)
        if call(f"{what}: link", ["g++", "-std=c++20", "-I", self.runtime, f"-DMODELS={list_of_models}", *flags, HERE / "harness.cpp", *objects, "-o", program]) is None:
            return
        self.feed(model, folder)
        if call(f"{what}: run", [program, folder, *model.symbols]) is not None:
            self.judge(what, model, folder, names)

    def one_program(self, model, path):
        """Units for all machines in one program, without optimisation, so that nothing is inlined and every function is the linker's choice."""
        folder = self.root / "together" / model.name
        units = {f"{model.name}_{t.replace('-', '_')}": (t, march(t)) for t in TARGETS}
        # A unit for any machine is right whatever it is compiled for.
        units |= {f"{model.name}_generic_{m.replace('-', '_')}": ("generic", [f"-march={m}"]) for m in TARGETS if m not in ("generic",)}
        for name, (target, _) in units.items():
            self.emit(path, folder / f"{name}.cpp", "--target", target)
        for level in ("-O0", "-O2"):
            def build(item):
                name, (_, flags) = item
                self.compile(f"{name} {level}", self.compilers[0], folder / f"{name}.cpp", folder / f"{name}{level}.o", level, *flags, "-I", str(self.runtime))
            list(self.pool.map(build, units.items()))
            objects = [folder / f"{n}{level}.o" for n in units]
            if not all(o.exists() for o in objects):
                return
            for order in (objects, objects[::-1]):
                self.link_and_run(f"{model.name}: all machines in one program, {level}", model, folder, list(units), order)
            self.shared_symbols(model.name, {n: folder / f"{n}{level}.o" for n in units if "generic_" not in n})

    def shared_symbols(self, what, objects):
        """No function of the runtime whose code depends on flags may be shared."""
        tables = {}
        for name, path in objects.items():
            table = subprocess.run(["nm", "-C", "--defined-only", str(path)], capture_output=True, text=True).stdout
            tables[name] = {m[1] for m in re.finditer(r"^\S+ [WVu] (.*onnxc::.*)$", table, re.M)}
        # What interfaces show, and the standard library's own templates.
        fixed = re.compile(r"onnxc::(Status|describe|[a-z0-9]*float\w*::|SmallFloat)|\bstd::\w+[<(]")
        for a, b in itertools.combinations(tables, 2):
            shared = {s for s in tables[a] & tables[b] if not fixed.search(s)}
            if shared and not {a.split("_", 1)[1], b.split("_", 1)[1]} <= {"native", "x86_64_v3", "x86_64_v4"}:
                fail(f"{what}: {a} and {b} share", ", ".join(sorted(shared)[:5]))

    def weight_forms(self, model, path):
        results = {}
        for form in FORMS:
            folder = self.root / "forms" / re.sub(r"\W", "_", form)
            self.emit(path, folder / "m.cpp", "--weights", form)
            flags = ["-march=native", "-O1", "-I", str(self.runtime), "-I", str(folder), f"-DONNXC_WEIGHTS_DIR=\"{folder}/\""]
            for compiler in self.compilers:
                self.compile(f"{model.name}, weights as {form}", compiler, folder / "m.cpp", folder / f"{compiler}.o", *flags)
                if not (folder / f"{compiler}.o").exists():
                    continue
                objects = [folder / f"{compiler}.o", *folder.glob("*.weights.o")]
                self.link_and_run(f"{model.name}, weights as {form}", model, folder, ["m"], objects, *(["-DWEIGHTS_FILE=m"] if form == "file" else []))
                results[form, compiler] = [p.read_bytes() for p in sorted(folder.glob("m_output_*.bin"))]
        for compiler in self.compilers:
            if len({tuple(v) for (_, c), v in results.items() if c == compiler}) > 1:
                fail(f"{model.name}: results depend on the form of the weights")

    def wrong_machine(self, path):
        folder = self.root / "wrong"
        self.emit(path, folder / "m.cpp", "--target", "x86-64-v3")
        for compiler in self.compilers:
            output = call(f"a unit for v3 compiled for v2 with {compiler}", [compiler, "-std=c++20", "-fsyntax-only", "-march=x86-64-v2", "-I", self.runtime, folder / "m.cpp"], 1)
            if output is not None and "compile this unit with -march=x86-64-v3" not in output:
                fail("a unit for another machine", "the compiler does not say what to do: " + output)


def main():
    onnxc, runtime, samples = (Path(a).resolve() for a in sys.argv[1:4])
    more = [Path(a).resolve() for a in sys.argv[4:]]
    with tempfile.TemporaryDirectory() as temporary:
        checks = Checks(onnxc, runtime, Path(temporary))
        made = [make() for make in models.ALL]
        paths = {}
        for model in made:
            paths[model.name] = checks.root / f"{model.name}.onnx"
            onnx.save(model.proto, paths[model.name])
        by_name = {m.name: m for m in made}

        checks.matrix(paths["image"], "image", TARGETS, ["beside", "pasted", "plain"])
        for name in ("attention", "dynamic", "branch", "halves", "weights"):
            checks.matrix(paths[name], name, ["native", "generic"], ["beside"])
        checks.matrix(paths["dynamic"], "dynamic", ["x86-64-v3"], ["pasted", "plain"])
        for sample in sorted(samples.glob("*/*.onnx")):
            checks.matrix(sample, sample.stem, ["native", "generic"], ["beside"], options=SAMPLE_OPTIONS.get(sample.stem, ()))
        for path in more:
            checks.matrix(path, re.sub(r"\W", "_", path.parent.name), ["native"], ["beside"])
        checks.tidy(["attention", "dynamic", "branch", "halves"])
        for name in ("image", "dynamic", "weights"):
            checks.same_bytes(paths[name], name)
        checks.weight_forms(by_name["weights"], paths["weights"])
        checks.weight_forms(by_name["branch"], paths["branch"])
        for name in ("image", "attention", "dynamic", "branch", "halves"):
            checks.one_program(by_name[name], paths[name])
        checks.wrong_machine(paths["image"])
    print(f"emitted code: {failures} failed, with {', '.join(checks.compilers)} for {', '.join(TARGETS)}")
    sys.exit(1 if failures else 0)


main()
