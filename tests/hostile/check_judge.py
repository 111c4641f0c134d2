"""The judges are tested first: programs that end badly, units that do not compile."""
import pathlib
import sys
import tempfile

import emitted
from judge import Runner

ENDS = {  # what stands in for onnxc -> the fault
    "exit 0": "",
    "echo 'onnxc: error: form.onnx: no' >&2; exit 1": "",
    "echo 'onnxc: error: form.onnx: no' >&2; exit 4": "",
    "echo 'onnxc: error: form.onnx: no' >&2; exit 70": "internal error",
    "echo 'onnxc: error: form.onnx: no' >&2; exit 2": "exit status 2",
    "exit 1": "message: no lines",
    "echo 'onnxc: error: form.onnx:' >&2; exit 1": "message: says nothing",
    "echo 'form.onnx: no' >&2; exit 1": "message: does not begin",
    "printf 'onnxc: error: a\\nonnxc: error: b\\n' >&2; exit 1": "message: several lines",
    "echo 'onnxc: error: form.onnx: out of memory' >&2; exit 4": "memory",
    "kill -SEGV $$": "signal: SIGSEGV",
    "kill -ABRT $$": "signal: SIGABRT",
    "while :; do :; done": "time",
    f"exec {sys.executable} -c 'b\"a\" * (600 << 20)'": "memory",
    "echo '==1==ERROR: AddressSanitizer: heap-buffer-overflow' >&2; exit 1": "sanitizer",
    "echo 'a.cpp:1:2: runtime error: division by zero' >&2; exit 0": "sanitizer",
}


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for k, (script, wanted) in enumerate(ENDS.items()):
            program = folder / f"program{k}"
            program.write_text(f"#!/bin/bash\n{script}\n")
            program.chmod(0o755)
            fault = Runner(program, folder / "work").run(b"").fault
            if not fault.startswith(wanted) or bool(fault) != bool(wanted):
                wrong.append(f"{script}: {fault or 'no fault'}, not {wanted or 'none'}")
        units = {"ugood": "namespace ugood { inline int f() { return 1; } }", "ubad": "template <class T> void g(T x) { x.bogus(); }\ninline void ubad() { g(1); }",
                 "uother": "namespace uother { inline int f() { return 2; } }"}
        for unit, text in units.items():
            (folder / f"{unit}.cpp").write_text(text + "\n")
        if list(emitted.check(folder, list(units))) != ["ubad"]:
            wrong.append("of three units, the one that does not compile is not told")
        if emitted.check(folder, ["ugood", "uother"]):
            wrong.append("units that compile do not")
    print("\n".join(wrong) or f"{len(ENDS)} ends and {len(units)} units are judged as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
