"""The judges are tested first: programs that end badly, units that do not compile."""
import pathlib
import subprocess
import sys
import tempfile

import emitted
from judge import Runner, built_server

ENDS = {  # what stands in for onnxc -> the fault
    "exit 0": "",
    "echo 'onnxc: error[E0001]: form.onnx: no' >&2; exit 1": "",
    "echo 'onnxc: error[E0001]: form.onnx: no' >&2; exit 4": "",
    "echo 'onnxc: error[E0001]: form.onnx: no' >&2; exit 70": "internal error",
    "echo 'onnxc: error[E0001]: form.onnx: no' >&2; exit 2": "exit status 2",
    "exit 1": "message: no lines",
    "echo 'onnxc: error[E0001]: form.onnx:' >&2; exit 1": "message: says nothing",
    "echo 'form.onnx: no' >&2; exit 1": "message: does not begin",
    "printf 'onnxc: error[E0001]: a\\nonnxc: error[E0001]: b\\n' >&2; exit 1": "message: several lines",
    "echo 'onnxc: error[E0001]: form.onnx: out of memory' >&2; exit 4": "memory",
    "kill -SEGV $$": "signal: SIGSEGV",
    "kill -ABRT $$": "signal: SIGABRT",
    "while :; do :; done": "time",
    f"exec {sys.executable} -c 'b\"a\" * (600 << 20)'": "memory",
    "echo '==1==ERROR: AddressSanitizer: heap-buffer-overflow' >&2; exit 1": "sanitizer",
    "echo 'a.cpp:1:2: runtime error: division by zero' >&2; exit 0": "sanitizer",
}


# A unit as the C ABI has it, with an output of two floats.
STUB = """#include <onnxc/model.h>
namespace { constexpr std::int64_t NAME_shape[] = {2};
constexpr onnxc_tensor_info NAME_outputs[] = {{"y", "y", 1, 1, NAME_shape, 0, 0}};
std::size_t NAME_arena(const std::int64_t*) { return 0; }
void NAME_output_shape(const std::int64_t*, std::int32_t, std::int64_t* e) { e[0] = 2; }
std::int32_t NAME_run(const onnxc_call* call) { static_cast<volatile float*>(call->outputs[0])[INDEX] = 1; return 0; }
constexpr onnxc_model NAME_description = {sizeof(onnxc_model), "", "", "", "", 0, 1, 0, nullptr, NAME_outputs, nullptr, 64, 0, NAME_arena, NAME_output_shape, NAME_run, 0}; }
extern "C" const onnxc_model* NAME_model(void) { return &NAME_description; }
"""


def folder_faults(scratch):
    """What is wrong with how folder.py sums up programs that end in each way."""
    folder, program = scratch / "models", scratch / "program"
    (folder / "below").mkdir(parents=True)
    ends = {"accepts": 'echo "int f();" >"$3"', "breaks": 'echo "int f(" >"$3"', "refuses": 'echo "onnxc: error[E0001]: $1: no" >&2; exit 1', "crashes": "kill -SEGV $$", "hangs": "while :; do :; done",
            "strays": 'echo "int f();" >"$3"; touch "$(dirname "$3")/other"', "mumbles": "exit 1"}
    for name in ends:
        (folder / "below" / f"{name}.onnx").touch()
    program.write_text('#!/bin/bash\ncase "$(basename "$1" .onnx)" in\n' + "".join(f"{name}) {end} ;;\n" for name, end in ends.items()) + "esac\n")
    program.chmod(0o755)
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("folder.py"), "--binary", program, folder], capture_output=True, text=True)
    wanted = "7 files: 1 refused cleanly, 1 accepted and compiled, 1 crashed, 1 hung, 1 leaked, 1 with an unclear message, 1 accepted as C++ that does not compile"
    return [] if done.stdout.splitlines()[-1:] == [wanted] and done.returncode == 1 else [f"a folder: {done.stdout} {done.stderr}"]


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
        if server := built_server(folder):  # true and false end as they do when they are started
            ends = [Runner(f"/bin/{name}", folder / "served", server=server).run(b"") for name in ("true", "false")]
            if [(e.status, e.fault) for e in ends] != [(0, ""), (1, "message: no lines")]:
                wrong.append(f"served: {ends}")
        units = {"ugood": "namespace ugood { inline int f() { return 1; } }", "ubad": "template <class T> void g(T x) { x.bogus(); }\ninline void ubad() { g(1); }",
                 "uother": "namespace uother { inline int f() { return 2; } }"}
        for unit, text in units.items():
            (folder / f"{unit}.cpp").write_text(text + "\n")
        if list(emitted.check(folder, list(units))) != ["ubad"]:
            wrong.append("of three units, the one that does not compile is not told")
        if emitted.check(folder, ["ugood", "uother"]):
            wrong.append("units that compile do not")
        for unit, index in (("uinside", 1), ("ubeyond", 2)):
            (folder / f"{unit}.cpp").write_text("#include <cstddef>\n#include <cstdint>\n" + STUB.replace("NAME", unit).replace("INDEX", str(index)))
        astray, ran = emitted.run(folder, ["uinside", "ubeyond"], folder)
        if list(astray) != ["ubeyond"] or "heap-buffer-overflow" not in astray["ubeyond"] or ran != 1:
            wrong.append(f"of two units, the one that writes beyond its output is not told: {astray}")
        wrong += folder_faults(folder)
    print("\n".join(wrong) or f"{len(ENDS)} ends and {len(units) + 2} units are judged as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
