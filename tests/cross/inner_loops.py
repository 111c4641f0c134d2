"""Does the innermost loop of a unit's products keep the vector units busy?

    inner_loops.py UNIT.o [OBJDUMP]

A loop here is straight code that ends in a branch back to its beginning: nothing is left to be run inside of it. Among those with multiply-adds of vectors
(`fmla v0.4s, v1.4s, v2.s[0]`) the one with most of them is the product's. It must multiply by lanes, take whole vectors, call nothing and leave its
accumulators in registers: a load or a store on the stack in that loop costs more than what it computes.
"""

import re
import subprocess
import sys

INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(.*)$")
BRANCH = re.compile(r"^(?:b\.?\w*|cbn?z\s+\w+,|tbn?z\s+\w+,\s*#\d+,)\s+([0-9a-f]+)\s+<")


def functions(listing):
    """The instructions of each function, as (address, text)."""
    for block in listing.split("\n\n"):
        found = [INSTRUCTION.match(line) for line in block.splitlines()]
        yield [(int(m[1], 16), m[2]) for m in found if m]


def straight_loops(code):
    """Bodies of loops without a branch but the last."""
    for end, (address, text) in enumerate(code):
        branch = BRANCH.match(text)
        if not branch or int(branch[1], 16) >= address:
            continue
        body = [t for a, t in code[:end] if a >= int(branch[1], 16)]
        if not any(BRANCH.match(t) for t in body):
            yield body


def main():
    unit, objdump = sys.argv[1], (sys.argv[2:] or ["aarch64-linux-gnu-objdump"])[0]
    listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", unit], capture_output=True, text=True, check=True).stdout
    loops = [body for code in functions(listing) for body in straight_loops(code)]
    body = max(loops, key=lambda b: sum("fmla" in t for t in b), default=[])
    products = [t for t in body if t.startswith("fmla")]
    faults = {
        "fewer than 32 multiply-adds of vectors": len(products) < 32,
        "multiply-adds that are not of 4 floats by a lane": any(not re.search(r"\.4s.*\.s\[\d\]", t) for t in products),
        "a call": any(re.match(r"blr?\s", t) for t in body),
        "values on the stack": any("[sp" in t or "[x29" in t for t in body),
    }
    print(f"{unit}: {len(products)} fmla among {len(body) + 1} instructions")
    found = [what for what, is_there in faults.items() if is_there]
    for what in found:
        print(f"  the inner loop has {what}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
