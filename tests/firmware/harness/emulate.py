"""Runs an image in its emulator."""
import functools
import hashlib
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .elf import Elf
from .image import Failed, command
from .machines import PARTS, SHARED

# Of the loop in image/main.cpp, and what a call before and after it may take.
LOOP, AROUND = 3, 40


@functools.cache
def plugin(name):
    """Of the emulator, built once a process."""
    folder = Path(tempfile.mkdtemp(prefix="onnxc-count-"))
    command("cc -shared -fPIC -O2 -Wall -Wextra -Werror", f"-I{SHARED}", (SHARED if name == "count" else PARTS) / f"{name}.c", "-o", folder / f"{name}.so")
    return folder / f"{name}.so"


def accesses(machine, image, limit=600):
    """{address: bytes} of the words that one run loads and stores."""
    elf, out, words = Elf(image), image.with_name("accesses"), machine.emulator.split()
    words[1:1] = ["-plugin", f"{plugin('accesses')},mark={elf.address('mark'):#x},out={out}"]
    subprocess.run([*words, str(image)], stdin=subprocess.DEVNULL, capture_output=True, timeout=limit)
    return {int(address): int(bytes_) for address, bytes_ in map(str.split, out.read_text().splitlines())}


def run(case, machine, image, limit=600):
    """{status, stack, instructions, outputs, digest}: `instructions` of one run and `cycles` of the core, or None where they are not counted; `digest` is the same where the results' bits are."""
    elf, counts = None if machine.kind == "wasm" else Elf(image), image.with_name("counts")
    counts.unlink(missing_ok=True)
    words = machine.emulator.split()
    if machine.counts:
        words[1:1] = ["-plugin", f"{plugin('count')},mark={elf.address('mark'):#x},out={counts},core={machine.name}"]
    try:
        done = subprocess.run([*words, str(image)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failed(f"the image did not end within {limit} s") from None
    said = (done.stdout + done.stderr).split("\n")
    if "end" not in said:
        told = next((line for line in said if "fatal" in line), " ".join(said)[-300:].strip())
        raise Failed(f"the image ended early: {told or 'exit status %d' % done.returncode}")
    told, outputs = {}, []
    for line in said[:said.index("end")]:
        name, _, value = line.partition(" ")
        if name == "output":
            outputs.append("")
        elif value:
            told[name] = int(value)
        else:
            outputs[-1] += name
    if "stack-overflow" in told:
        raise Failed("the stack is too small for what it needs")
    arrays = [np.frombuffer(bytes.fromhex(text), expected.dtype.newbyteorder(elf.order if elf else "<")).reshape(expected.shape).astype(expected.dtype)
              for text, expected in zip(outputs, case.expected, strict=True)]
    digest = hashlib.sha256(b"".join(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays)).hexdigest()[:12]
    return {"digest": digest, "status": told["status"], "stack": told["stack"], **(counted(counts) if machine.counts else {"instructions": None}), "outputs": arrays}


def counted(path):
    """{instructions, cycles} of the run, after those of two loops of known lengths have been found right. Cycles are None where no table of the core is known."""
    marks = [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
    (short, _), (long, cycles_of_long), (instructions, cycles) = ((end[0] - begin[0], end[1] - begin[1]) for begin, end in zip(marks[::2], marks[1::2], strict=True))
    for times, found in ((1000, short), (100_000, long)):
        if not 0 <= found - LOOP * times <= AROUND:
            raise Failed(f"the counter is wrong: {found} for a loop of {LOOP * times} instructions")
    return {"instructions": instructions, "cycles": cycles if cycles_of_long else None}
