#!/usr/bin/env python3
"""What the harness has to notice, it notices: results that are wrong, figures that have grown, a stack that is too small, a unit that stops."""
import dataclasses
import tempfile
from pathlib import Path

import numpy as np

from harness import elf, golden, image, models
from harness.machines import MACHINES
from harness.measure import measured

GLUE = """#include <cstring>
extern "C" {
alignas(8) static std::byte memory[8];
const Bytes arena{memory, sizeof memory};
std::int32_t unit(const float* in, float* out);
std::int32_t run_model() { return unit(input_0, output_0); }
}
"""


def run(source, expected=(2, 4, 6), bound=None, machine="cortex-m4"):
    """The row of a unit that is written here."""
    case = models.Case("own", Path(), [np.array([1, 2, 3], np.float32)], [np.array(expected, np.float32)], {}, 3, False, {"rtol": 1e-6, "atol": 0})
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "unit.cpp").write_text("#include <cstdint>\n" + source)
        return measured(case, MACHINES[machine], "O2", folder, lambda: image.Unit(folder / "unit.cpp", GLUE, 8, stack_bound=bound))


def cycles_of(machine, *code):
    """Of one turn of a loop: `code` is of (instruction, cycles), where r0 points to memory. By hand from Arm's tables; the loop's end takes 1 + 3."""
    body = "".join(f"\"{instruction}\\n\"" for instruction, _ in code)
    row = run("extern \"C\" std::int32_t unit(const float* in, float* out) { for (int i = 0; i < 3; ++i) out[i] = 2 * in[i]; alignas(8) float room[16]{}; int turns = 1000; "
              f"asm volatile(\".syntax unified\\nmov r0, %1\\n1:\\n\" {body} \"subs %0, #1\\nbne 1b\" : \"+l\"(turns) : \"r\"(room) : \"r0\", \"r2\", \"r3\", \"s0\", \"s1\", "
              "\"s2\", \"s3\", \"s4\", \"s5\", \"s6\", \"s7\", \"memory\", \"cc\"); return 0; }\n", machine=machine)
    assert "wrong" not in row, row
    expected = 1000 * (4 + sum(cycles for _, cycles in code))
    assert expected <= row["cycles"] < expected + 300, (machine, expected, row)


def main():
    doubles = "extern const float factors[3];\nconst float factors[3] = {2, 2, 2};\n" \
              "extern \"C\" std::int32_t unit(const float* in, float* out) { for (int i = 0; i < 3; ++i) out[i] = in[i] * factors[static_cast<int>(in[i]) - 1]; return 0; }\n"
    right = run(doubles)
    assert "wrong" not in right, right
    assert right["weights"] == 12 and right["data"] == right["bss"] == 0 and 10 < right["text"] < 200, right
    assert 10 < right["instructions"] < 60 and right["stack"] <= 128, right
    assert "off" in run(doubles, (2, 4, 7))["wrong"]
    assert "status 5" in run("extern \"C\" std::int32_t unit(const float*, float*) { return 5; }\n")["wrong"]
    assert "not finite" in run("extern \"C\" std::int32_t unit(const float*, float*) { return 0; }\n")["wrong"]  # outputs that are not written
    assert "early" in run("extern \"C\" std::int32_t unit(const float*, float*) { __builtin_trap(); }\n")["wrong"]
    assert "error" in run("extern \"C\" std::int32_t unit(\n")["wrong"]
    uses = "extern \"C\" std::int32_t unit(const float* in, float* out) { volatile char room[%d]; for (volatile char& c : room) c = 1; for (int i = 0; i < 3; ++i) out[i] = 2 * in[i]; return 1 - room[0]; }\n"
    deep = run(uses % 5000)
    assert 5000 <= deep["stack"] < 5200 and deep["frames"][0][0] >= 5000 and "wrong" not in deep, deep
    assert "stack" in run(uses % 65530)["wrong"]
    assert "wrong" not in run(uses % 5000, bound=5008) and "stack_bytes" in run(uses % 5000, bound=4000)["wrong"]
    writes = "static int kept = 7;\nextern \"C\" std::int32_t unit(const float* in, float* out) { kept += in[0] > 0; for (int i = 0; i < 3; ++i) out[i] = 2 * in[i]; return kept - 8; }\n"
    assert run(writes)["data"] == 4

    cycles_of("cortex-m4", ("ldr r2, [r0]", 2), ("ldr r3, [r0, #4]", 1), ("smlad r2, r3, r2, r2", 1), ("str r2, [r0]", 1), ("ldrb r2, [r0, r2]", 1), ("movs r3, #3", 1), ("sdiv r2, r2, r3", 7),
              ("vldr s0, [r0]", 2), ("vfma.f32 s0, s1, s2", 3), ("vmul.f32 s0, s1, s2", 1), ("vadd.f32 s1, s0, s2", 1), ("vldmia r0, {s0-s7}", 9), ("vdiv.f32 s1, s0, s2", 14),
              ("vsqrt.f32 s1, s2", 14), ("vmov r2, s0", 1), ("push {r2, r3}", 3), ("pop {r2, r3}", 3), ("ldrd r2, r3, [r0]", 3), ("smull r2, r3, r2, r3", 1), ("cbz r2, 2f", 3), ("nop", 0), ("2: nop", 1))
    cycles_of("cortex-m3", ("mla r2, r3, r2, r2", 2), ("mul r2, r3, r2", 1), ("ldr r2, [r0]", 2), ("ldmia r0, {r2, r3}", 3))
    cycles_of("cortex-m55", ("vldrb.u8 q0, [r0]", 2), ("vmladava.s8 r2, q0, q1", 1), ("vldrw.u32 q1, [r0]", 1), ("vmladava.s8 r2, q0, q1", 1), ("vmladava.s8 r2, q0, q1", 2), ("mov r3, r2", 1),
              ("vfma.f32 q0, q1, q1", 2), ("vfma.f32 s0, s1, s2", 1), ("ldr r2, [r0]", 1))

    known = dict.fromkeys(golden.FIGURES, 10_000)
    assert not golden.grown(known, known | {"text": 10_300, "stack": 9_000})
    assert golden.grown(known, known | {"text": 10_301}) == [("text", 10_000, 10_301)]
    assert golden.grown(known | {"data": 0}, known | {"data": 64}) == [("data", 0, 64)]

    quantised = models.Case("own", Path(), [], [np.full(4, 10, np.int8)], {}, 0, True, {"rtol": 0, "atol": 0, "tol_rel_l2": 0.06})
    assert quantised.error([np.array([10, 10, 10, 11], np.int8)]) is None
    assert quantised.error([np.array([10, 10, 10, 12], np.int8)]) is not None
    assert dataclasses.replace(quantised, quantised=False).error([np.array([10, 10, 10, 11], np.int8)]) is not None
    with tempfile.NamedTemporaryFile() as other:
        try:
            elf.Elf(Path(other.name))
        except ValueError:
            pass
        else:
            raise AssertionError("an empty file is no ELF file")
    print("the harness notices what it has to")


if __name__ == "__main__":
    main()
