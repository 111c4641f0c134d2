#!/usr/bin/env python3
"""Emitted units by clang's syntax tree: a unit with one fault of each kind shows that the rules fire, and real units break none.

  check.py CHECK_EMITTED ONNXC [--all]    with --all every backend test of ONNX and every network of the zoo, else some
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from units import ROOT, check_units

HERE = Path(__file__).parent
RULES = {"allocation", "recursion", "exception", "state", "leaf", "assembly", "loop", "const", "index", "arena"}


def check(tool, *words):
    done = subprocess.run([str(word) for word in (tool, *words)], capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return done.stdout


def check_faulty(tool):
    lines = (HERE / "faulty.cpp").read_text().splitlines()
    own = RULES - {"arena"}  # which needs a plan
    marked = {(number, rule) for number, line in enumerate(lines, 1) for rule in own if re.search(rf"// {rule}$", line)}
    assert {rule for _, rule in marked} == own
    found = {(int(line), rule) for line, rule in re.findall(r"^  faulty\.cpp:(\d+): (\w+): ", check(tool, HERE / "faulty.cpp", "--", "-std=c++20", "-w"), re.MULTILINE)}
    assert found == marked, (sorted(found - marked), sorted(marked - found))
    with tempfile.TemporaryDirectory() as folder:
        allowed = Path(folder) / "allowed.txt"
        allowed.write_text("leaves getenv unknown\nloop (anonymous namespace)::never_e*  # a test of exceptions\n")
        left = {rule for rule in re.findall(r"^  faulty\.cpp:\d+: (\w+): ", check(tool, HERE / "faulty.cpp", f"--allow={allowed}", "--", "-std=c++20", "-w"), re.MULTILINE)}
        assert left == own - {"leaf", "loop"}, left
        for wrong in ("loop f\n", "loop\n", "noise f  # reason\n"):
            allowed.write_text(wrong)
            done = subprocess.run([str(tool), str(HERE / "faulty.cpp"), f"--allow={allowed}", "--", "-std=c++20"], capture_output=True, text=True)
            assert done.returncode == 2 and "line 1" in done.stderr, (wrong, done.stderr)


def check_together(tool):
    """Of several units that are read as one, each is judged by what is in its own file and in what that calls."""
    with tempfile.TemporaryDirectory() as folder:
        header = "#pragma once\ninline int never() { for (;;) {} }\n"
        texts = {"right": "int right() { return 1; }", "state": "static int n = 0;\nint state() { return ++n; }", "loop": "int loop() { return never(); }",
                 "recursion": "int recursion(int n) { return n == 0 ? 0 : recursion(n - 1); }"}
        Path(folder, "shared.h").write_text(header)
        for name, text in texts.items():
            Path(folder, f"{name}.cpp").write_text(f'#include "shared.h"\n{text}\n')
        said = check(tool, "--together", *[Path(folder, f"{name}.cpp") for name in texts], "--", "-std=c++20", "-w")
        parts = re.findall(r"(\w+)\.cpp: .* (\d+) violations\n((?:  .*\n)*)", said)
        found = {unit: re.findall(r": (\w+): ", lines) for unit, _, lines in parts}
        assert found == {"right": [], "state": ["state"], "loop": ["loop"], "recursion": ["recursion"]}, said


# (file, what is replaced, by what): each must break the rule `arena`.
ARENA_FAULTS = [
    ("arena.cpp", "at<float>(arena, 64)", "at<float>(arena, 60)"), ("arena.cpp", "at<float>(arena, 72)", "at<float>(arena, 128 + 60)"),
    ("arena.cpp", "a[0] = 1", "*reinterpret_cast<float*>(arena + 4096) = 1"), ("arena.cpp", "  if (const auto status = onnxc::check_arena(arena, arena_bytes, arena_alignment)) return status;\n", ""),
    ("arena.plan", "b' at 64 live", "b' at 60 live"), ("arena.plan", "arena 192", "arena 184"), ("arena.plan", "at 0 live [2, 4)", "at 0 live [1, 4)"), ("arena.plan", "in %2 at 8", "in %2 at 120"),
    ("symbolic.cpp", "p.b3 = p.b1 + onnxc::aligned(16", "p.b3 = p.b1 + onnxc::aligned(15"), ("symbolic.cpp", "p.b1 + 8 * dims", "p.b1 + 9 * dims"),
    ("symbolic.cpp", "p.b3 + onnxc::aligned(8 * onnxc::ceil_div(dims.batch_size, 4))", "p.b3"), ("symbolic.cpp", "onnxc::ceil_div(dims.batch_size, 4)", "onnxc::floor_div(dims.batch_size, 64)"),
    ("calls.cpp", "{.rows = 4,", "{.rows = 5,"), ("calls.cpp", ".x_row = 16,", ".x_row = 17,"), ("calls.cpp", "{4, 16}, onnxc::Stream{a, {16}}", "{4, 16}, onnxc::Stream{a, {17}}"),
    ("calls.cpp", "onnxc::Stream{a, {16}}, onnxc::Stream{x, {16}}", "onnxc::Stream{a, {16}}, onnxc::Stream{x + 1, {16}}"), ("calls.cpp", "{16, 4}, t, {4, 1}", "{16, 4}, t, {5, 1}"),
    ("calls.cpp", "out.y.data(), {4, 4}}", "out.y.data(), {4, 5}}"), ("calls.cpp", "std::cmp_not_equal(in.w.size(), 4 * dims.n)", "std::cmp_not_equal(in.w.size(), 2 * dims.n)"),
    ("calls.cpp", "dims.n > 16) return", "dims.n > 20) return"), ("calls.cpp", "if (e1 != 1) return", "if (dims.n > 10) return"),
    ("symbolic.cpp", "Plan p;\n  p.b1 = 0;", "Plan p;\n  if (dims.batch_size > 3) p.b1 = 0;"), ("symbolic.plan", "%1    arena    16*", "%1    arena    17*"),
]


def check_arena(tool):
    with tempfile.TemporaryDirectory() as folder:
        def found(name, file="", old="", new=""):
            paths = []
            for suffix in (".plan", ".cpp"):
                text = (HERE / (name + suffix)).read_text()
                if file == name + suffix:
                    assert text.count(old) >= 1, (file, old)
                    text = text.replace(old, new)
                paths.append(Path(folder) / (name + suffix))
                paths[-1].write_text(text)
            said = check(tool, f"--plan={paths[0]}", paths[1], "--", "-std=c++20", "-w", f"-I{ROOT / 'runtime_stub'}")
            return re.findall(r"^  \S+ arena: .*$", said, re.MULTILINE)

        for name in ("arena", "symbolic", "calls"):
            assert not found(name), found(name)
        for file, old, new in ARENA_FAULTS:
            assert found(file.split(".")[0], file, old, new), (file, old, new)


def main():
    tool, onnxc = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    check_faulty(tool)
    check_together(tool)
    check_arena(tool)
    print("each rule fires on its fault, and on nothing else")
    return 0 if check_units(tool, onnxc, "--all" in sys.argv[3:]) else 1


if __name__ == "__main__":
    sys.exit(main())
