#!/usr/bin/env python3
"""Says whether two builds of onnxc emit the same units.

    tools/compare_units.py BEFORE AFTER FOLDER... [--options=--memory=min] [--names] [--show 20] [--jobs 2]

BEFORE and AFTER are onnxc binaries; each model.onnx (or *.onnx) below the FOLDERs is compiled by both with the same options, for the target x86-64-v3 unless --options name another.
Compared are the C++ file, the header and all weights, byte by byte, and where onnxc refuses a model, what it says. --names sets comments and the names of a unit's own variables,
functions and files aside: units that do the same under other names are equal then.

Exit status: 0 all equal, 1 some differ, 2 misuse.
"""
import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# Comments, strings, members of the runtime's structs as an initialiser names them, names, white space, and any other character.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\.\s*[A-Za-z_]\w*(?=\s*=[^=])|(?:(?:onnxc|std)::)?[A-Za-z_]\w*|\s+|.', re.S)
# Names that are not a unit's own: the language's, and macros.
NOT_OWN = set("""alignas auto bool break case char const constexpr continue default do double else enum extern false float for if inline int long namespace nullptr
operator return short signed sizeof static static_assert static_cast struct switch template this true typename union unsigned using void while noexcept include
define pragma endif ifdef ifndef error""".split())


def without_names(text):
    """The tokens of a unit, one a line; its own identifiers are numbered as they appear, comments and white space are left out."""
    numbers, lines = {}, []
    for token in TOKEN.findall(text):
        if token.isspace() or token.startswith(("//", "/*")):
            continue
        if re.match(r"[A-Za-z_]", token) and token not in NOT_OWN and not token.startswith(("onnxc::", "std::", "ONNXC_")):
            token = f"v{numbers.setdefault(token, len(numbers))}"
        lines.append(token)
    return "\n".join(lines)


def unit_of(binary, model, options, names):
    """What a build makes of a model: texts and hashes by file, or the message."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "unit.cpp")
        run = subprocess.run([binary, str(model), "-o", str(out), *options], capture_output=True, text=True, cwd=folder)
        if run.returncode:
            return {"message": f"exit status {run.returncode}\n{run.stderr}"}
        files = {}
        for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file()):
            data = path.read_bytes()
            if path.suffix in (".cpp", ".h"):
                text = data.decode()
                files[path.name] = without_names(text) if names else text
            else:
                files[path.name] = hashlib.sha256(data).hexdigest()
        return files


def difference(before, after):
    """The first file that differs, and the first lines of it that do; nothing where all are equal."""
    for name in sorted(before.keys() | after.keys()):
        a, b = before.get(name), after.get(name)
        if a == b:
            continue
        if a is None or b is None:
            return f"{name}: only {'after' if a is None else 'before'}"
        lines = [line for line in difflib.unified_diff(a.splitlines(), b.splitlines(), lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))]
        return "\n    ".join([f"{name}:"] + [line[:200] for line in lines[:6]])
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--options", default="", help="for onnxc, as one string: --options='--memory=min -O1'")
    parser.add_argument("--names", action="store_true", help="set comments and a unit's own names aside")
    parser.add_argument("--show", type=int, default=20, help="differences to print")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    options = shlex.split(arguments.options)
    if not any(o.startswith("--target") for o in options):
        options.append("--target=x86-64-v3")
    binaries = [str(p.resolve()) for p in (arguments.before, arguments.after)]
    models = sorted({p.resolve() for folder in arguments.folders for p in folder.rglob("*.onnx")})
    if not models:
        parser.error("no *.onnx below the folders")

    def compare(model):
        before, after = (unit_of(binary, model, options, arguments.names) for binary in binaries)
        return model, "message" in before, difference(before, after)

    counts, shown = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for number, (model, refused, text) in enumerate(pool.map(compare, models)):
            counts["different" if text else "refused alike" if refused else "equal"] += 1
            if text and shown < arguments.show:
                shown += 1
                print(f"DIFFERS {model}\n    {text}")
            if sys.stderr.isatty() and number % 20 == 0:
                print(f"\r{number} of {len(models)}", end="\r", file=sys.stderr)
    print(f"{len(models)} models: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
