"""Runs an image in its emulator."""
import functools
import hashlib
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .elf import Elf
from .image import Failed, command
from .machines import PARTS

# Of the loop in image/main.cpp, and what a call before and after it may take.
LOOP, AROUND = 3, 40


@functools.cache
def plugin(name):
    """Of the emulator, built once a process."""
    folder = Path(tempfile.mkdtemp(prefix="onnxc-count-"))
    command("cc -shared -fPIC -O2 -Wall -Wextra -Werror", PARTS / f"{name}.c", "-o", folder / f"{name}.so")
    return folder / f"{name}.so"


def accesses(machine, image, limit=600):
    """{address: bytes} of the words that one run loads and stores."""
    elf, out, words = Elf(image), image.with_name("accesses"), machine.emulator.split()
    words[1:1] = ["-plugin", f"{plugin('accesses')},begin={elf.address('counting_begins'):#x},end={elf.address('counting_ends'):#x},out={out}"]
    subprocess.run([*words, str(image)], stdin=subprocess.DEVNULL, capture_output=True, timeout=limit)
    return {int(address): int(bytes_) for address, bytes_ in map(str.split, out.read_text().splitlines())}


def run(case, machine, image, limit=600):
    """{status, stack, instructions, outputs, digest}: `instructions` of one run, or None where they are not counted; `digest` is the same where the results' bits are."""
    elf, counts = None if machine.kind == "wasm" else Elf(image), image.with_name("counts")
    counts.unlink(missing_ok=True)
    words = machine.emulator.split()
    if machine.counts:
        at = f"begin={elf.address('counting_begins'):#x},end={elf.address('counting_ends'):#x}"
        words[1:1] = ["-plugin", f"{plugin('count')},{at},out={counts}"]
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
    return {"digest": digest, "status": told["status"], "stack": told["stack"], "instructions": counted(counts) if machine.counts else None, "outputs": arrays}


def counted(path):
    """The count of the run, after those of two loops of known lengths have been found right."""
    short, long, model = map(int, path.read_text().split())
    for times, found in ((1000, short), (100_000, long)):
        if not 0 <= found - LOOP * times <= AROUND:
            raise Failed(f"the counter is wrong: {found} for a loop of {LOOP * times} instructions")
    return model
