"""Does emitted C++ compile? Many units in one run of the system's compiler, which only checks them: most of its time it reads the runtime's headers."""
import hashlib
import os
import pathlib
import re
import subprocess

RUNTIME = pathlib.Path(__file__).resolve().parents[2] / "runtime_stub"
GROUP = 40      # units that are checked in one run of the compiler
RUN_GROUP = 12  # that are built for a run


def text_of(folder):
    """Source and header of the unit `unit` in a folder, without what differs between models that give the same."""
    source = (folder / "unit.cpp").read_text(errors="replace")
    header = (folder / "unit.h").read_text(errors="replace")
    return re.sub(r"\A(//[^\n]*\n)+", "", source), re.sub(r"\A(//[^\n]*\n)+", "", header)


class Units:
    """Different units, each once."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, unit_folder):
        """The name of the unit."""
        source, header = text_of(unit_folder)
        sides = [p for p in sorted(unit_folder.glob("unit*")) if p.suffix not in (".cpp", ".h", ".link")]
        digest = hashlib.sha256((source + header).encode()).hexdigest()[:20]
        name = f"u{digest}"
        path = self.folder / f"{name}.cpp"
        if not path.exists() and not sides:
            (self.folder / f"{name}.h").write_text(re.sub(r"\bunit(?=\b|_)", name, header))
            libraries = (unit_folder / "unit.link").read_text() if (unit_folder / "unit.link").exists() else ""
            (self.folder / f"{name}.link").write_text(libraries)
            # Weights that are assembler's text have their label behind the two characters of an end of line.
            path.with_suffix(".tmp").write_text(re.sub(r"(?:\b|(?<=\\n))unit(?=\b|_)", name, source))
            path.with_suffix(".tmp").rename(path)
        return name if not sides else ""


FEW = 6  # suspects of a group that are compiled once more, each alone; of more the compiler's word is taken


def said_of(name, text):
    """The first error behind the first mention of a unit."""
    found = re.search(r"error: .*", text[max(text.find(name), 0):]) or re.search(r"error: .*|.*Killed.*", text)
    return found.group(0)[:200] if found else text[:200]


def check(folder, names, flags=()):
    """name -> what the compiler says of the unit, for those that it does not take."""
    text = "".join(f'#include "{name}.cpp"\n' for name in names)
    compiler = os.environ.get("ONNXC_CXX") or os.environ.get("CXX") or "c++"
    command = [compiler, "-std=c++20", "-march=native", "-fsyntax-only", "-w", f"-I{RUNTIME}", f"-I{folder}", *flags, "-x", "c++", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    if not done.returncode:
        return {}
    if len(names) == 1:
        return {names[0]: said_of(names[0], done.stderr)}
    suspects = [name for name in names if name in done.stderr]  # their namespaces and files are named so
    rest = [name for name in names if name not in done.stderr]
    if not suspects:
        suspects, rest = names[:len(names) // 2], names[len(names) // 2:]
    elif len(suspects) > FEW:
        return {**{name: said_of(name, done.stderr) for name in suspects}, **(check(folder, rest, flags) if rest else {})}
    found = check(folder, rest, flags) if rest else {}
    for name in suspects:
        found.update(check(folder, [name], flags))
    return found or {names[0]: "only beside others: " + said_of(names[0], done.stderr)}


def run(folder, names, work):
    """name -> what is wrong, of units that compile, when each runs on a few data sets under the address sanitizer; and how many of them ran."""
    table = "".join(f'#include "{name}.cpp"\n' for name in names)
    hpp = pathlib.Path(__file__).with_name("execute.hpp")
    table += f'#define ONNXC_EXECUTE_TABLE {", ".join("{%s, %s_model}" % (chr(34) + name + chr(34), name) for name in names)}\n#include "{hpp}"\n'
    program = pathlib.Path(work) / f"run_{names[0]}"
    compiler = os.environ.get("ONNXC_CXX") or os.environ.get("CXX") or "c++"
    links = [pathlib.Path(folder) / f"{name}.link" for name in names]
    libraries = sorted({option for link in links if link.exists() for option in link.read_text().split()})
    command = [compiler, "-std=c++20", "-march=native", "-O0", "-g1", "-w", "-fsanitize=address", f"-I{RUNTIME}", f"-I{folder}", "-x", "c++", "-", "-o", str(program), "-x", "none", *libraries]
    done = subprocess.run(command, input=table, capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        if len(names) == 1:
            return {names[0]: "does not build: " + said_of(names[0], done.stderr)}, 0
        half = len(names) // 2
        (a, m), (b, n) = run(folder, names[:half], work), run(folder, names[half:], work)
        return {**a, **b}, m + n
    try:
        done = subprocess.run([str(program)], capture_output=True, text=True, errors="replace", env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:exitcode=99:handle_sigfpe=1"})
    finally:
        program.unlink()
    said = dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
    wrong = {name: text.removeprefix("FAULT ") for name, text in said.items() if text.startswith("FAULT")}
    wrong.update({name: "was not run" for name in names if name not in said})
    return wrong, sum(text == "ran" for text in said.values())
