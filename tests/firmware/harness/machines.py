"""The machines: how units are compiled for each, what runs the image, where its memories are."""
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

PARTS = Path(__file__).resolve().parents[1] / "image"  # what images are made of beside a unit
SHARED = Path(__file__).resolve().parents[3] / "tools" / "emulator" / "parts"  # the same, as `onnxc profile` has it


@dataclass(frozen=True)
class Machine:
    """One target of onnxc with a compiler and an emulator for it."""
    name: str  # as --target has it
    compiler: str  # of C++
    flags: str  # what chooses the processor, for the compiler
    emulator: str  # the command, before the image
    c_compiler: str
    kind: str = "board"  # board: without a system; linux: a program under qemu-user; wasm: run by node
    code: tuple = (0, 0)  # of a board: origin and size of the memory for code and constants
    data: tuple = (0, 0)  # of values, arena and stack
    large: tuple = (0, 0)  # another memory for values, slower on a real board, for those that need more
    fast: tuple = (0, 0)  # memories for units with regions, apart from those above
    slow: tuple = (0, 0)
    reset: int = 0  # where the processor starts or looks for its vectors
    more: str = ""  # more for both compilers: where headers and libraries are
    prelude: str = ""  # assembly before that of the unit
    counts: bool = True  # whether instructions are counted

    def missing(self):
        """The first of its tools that is not installed, or None."""
        return next((tool for tool in (self.compiler, self.c_compiler, self.emulator.split()[0]) if shutil.which(tool) is None), None)


BARE = "-nographic -monitor none -serial none -semihosting-config enable=on,target=native -kernel"


def emulators():
    """By target: the command, and of a board its memories as machines.txt has them."""
    lines = [line.partition("|") for line in (SHARED / "machines.txt").read_text().splitlines() if not line.startswith("#")]
    return {command.split()[0]: (command.split(None, 1)[1].strip(), [int(number, 16) for number in memories.split()]) for command, _, memories in lines}


EMULATORS = emulators()


def board(name, compiler, flags, c_compiler, more=""):
    command, (code, code_size, data, data_size, large, large_size, reset) = EMULATORS[name]
    fast = slow = (0, 0)
    if data == 0x2000_0000:  # boards with SSRAM and PSRAM: the upper end of the one, and the other
        data_size -= 1 << 20
        fast, slow = (data + data_size, 1 << 20), (large, large_size)
    return Machine(name, compiler, flags, f"{command} {BARE}", c_compiler, code=(code, code_size), data=(data, data_size), large=(large, large_size), fast=fast, slow=slow,
                   reset=reset, more=more)


def cortex(name, flags):
    return board(name, "arm-none-eabi-g++", flags + " -mthumb", "arm-none-eabi-gcc")


# Picolibc and wasi-libc come without a C++ library. The headers that the runtime needs are the same for every machine: those of newlib's C++ library, which is made for
# 32-bit ARM, serve.
CPP_HEADERS = "-nostdinc++ -isystem /usr/include/newlib/c++/12.2.1 -isystem /usr/include/newlib/c++/12.2.1/arm-none-eabi"
PICOLIBC = "--specs=/usr/lib/picolibc/riscv64-unknown-elf/picolibc.specs " + CPP_HEADERS


def riscv(name, flags):
    return board(name, "riscv64-unknown-elf-g++", flags, "riscv64-unknown-elf-gcc", PICOLIBC)


def linux(name, flags, triple):
    return Machine(name, f"{triple}-g++", flags, EMULATORS[name][0], f"{triple}-gcc", kind="linux")


# g++ 12 does not vectorise for RISC-V.
# QEMU before version 8 ends with a failed assertion where it translates a conversion that states its rounding (its issue 1441). Macros of these names, with the
# rounding in its register, take the instructions' places; they may go when Debian's QEMU is newer.
ROUNDING = "".join(f".macro vfcvt.rtz.{sign}.f.v to, from, mask:vararg\n fsrmi 1\n .ifb \\mask\n vfcvt.{sign}.f.v \\to, \\from\n .else\n"
                   f" vfcvt.{sign}.f.v \\to, \\from, \\mask\n .endif\n fsrmi 0\n.endm\n" for sign in ("x", "xu"))
CLANG_RISCV = "--target=riscv64-linux-gnu --gcc-install-dir=/usr/lib/gcc-cross/riscv64-linux-gnu/12"


MACHINES = {
    machine.name: machine
    for machine in (
        cortex("cortex-m0", "-mcpu=cortex-m0"),
        cortex("cortex-m3", "-mcpu=cortex-m3"),
        cortex("cortex-m4", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"),
        cortex("cortex-m7", "-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16"),
        cortex("cortex-m33", "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16"),
        cortex("cortex-m55", "-mcpu=cortex-m55 -mfloat-abi=hard"),
        cortex("cortex-m85", "-march=armv8.1-m.main+mve.fp+fp.dp -mfloat-abi=hard"),
        riscv("rv32imc", "-march=rv32imc -mabi=ilp32"),
        riscv("rv32imafc", "-march=rv32imafc -mabi=ilp32f"),
        Machine("rv64gcv", "clang++-19", "-march=rv64gcv -mabi=lp64d", EMULATORS["rv64gcv"][0], "clang-19", kind="linux", more=CLANG_RISCV, prelude=ROUNDING),
        linux("aarch64", "-march=armv8-a", "aarch64-linux-gnu"),
        linux("aarch64-dotprod", "-march=armv8.2-a+dotprod", "aarch64-linux-gnu"),
        linux("aarch64-i8mm", "-march=armv8.2-a+dotprod+i8mm", "aarch64-linux-gnu"),
        linux("aarch64-sve256", "-march=armv8.2-a+sve -msve-vector-bits=256", "aarch64-linux-gnu"),
        Machine("wasm32", "clang++-19", "--target=wasm32-wasi -msimd128", f"node {PARTS}/wasm.mjs", "clang-19", kind="wasm", more=CPP_HEADERS, counts=False),
        linux("s390x", "-march=z13", "s390x-linux-gnu"),
    )
}


def flags_that_a_unit_states(text):
    """The compiler's flags as the unit's own refusal names them, or None."""
    found = re.search(r'"compile this unit with ([^",]*), or ask', text)
    return found and found.group(1)
