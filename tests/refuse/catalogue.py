"""Every code of an error is used, has a page, is shown by a case or is known to have none; and `onnxc explain` prints these pages.

    catalogue.py ONNXC
"""
import re
import subprocess
import sys
from pathlib import Path

from cases import CASES

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/refusals"
KINDS = {"Invalid": "1", "Unsupported": "1", "Usage": "2", "Io": "3", "Budget": "4", "Internal": "70"}
GENERAL = "what has no code of its own: a case that led here should get one"
NOT_SHOWN = {
    "E0001": GENERAL,
    "E0002": GENERAL,
    "E0003": GENERAL,
    "E0004": GENERAL,
    "E0005": GENERAL,
    "E0006": "a bug",
    "E0612": "an image that does not end well takes a cross compiler and a fault of the emulator",
}


def main():
    onnxc = sys.argv[1]
    faults = []

    def check(holds, fault):
        if not holds:
            faults.append(fault)

    listed = re.findall(r"^ERROR_CODE\((\d+), (\w+), (\w+)\)$", (ROOT / "compiler/support/error_codes.inc").read_text(), re.M)
    codes = {f"E{int(number):04}": (name, kind) for number, name, kind in listed}
    check(len(codes) == len(listed) == len({name for name, _ in codes.values()}), "a number or a name is there twice")
    check(list(codes) == sorted(codes), "numbers are not in order")

    sources = [path.read_text() for folder in ("compiler", "codegen", "tools") for suffix in ("cpp", "h") for path in (ROOT / folder).rglob(f"*.{suffix}")]
    used = set(re.findall(r"ErrorCode::(\w+)", "\n".join(sources)))
    shown = {case.code for case in CASES if case.code}
    pages = {path.stem for path in PAGES.glob("E*.md")}
    said = subprocess.run([onnxc, "explain"], capture_output=True, text=True).stdout
    titles = dict(line.split("  ", 1) for line in said.splitlines())
    check(pages == set(codes), f"pages and codes differ: {sorted(pages ^ set(codes))}")
    check(list(titles) == list(codes), "onnxc explain lists other codes")
    for code, (name, kind) in codes.items():
        check(name in used, f"{code}: no C++ uses {name}")
        check((code in shown) != (code in NOT_SHOWN), f"{code} {name}: no case shows it, or one does and it has a reason for none")
        if code not in pages:
            continue
        page = (PAGES / f"{code}.md").read_text()
        check(page.startswith(f"# {code}: {titles.get(code)}\n"), f"{code}: the page's title is another")
        check(f"Exit status {KINDS[kind]}." in " ".join(page.split()), f"{code}: the page does not say exit status {KINDS[kind]}")
        check(f"error[{code}]: " in page, f"{code}: the page has no example of its message")
        check("\n## What to do\n" in page, f"{code}: the page does not say what to do")
        check(subprocess.run([onnxc, "explain", code], capture_output=True, text=True).stdout == page, f"onnxc explain {code} does not print its page")
    index = (PAGES / "index.md").read_text()
    check(re.findall(r"^\| \[(E\d{4})\]\(\1\.md\) \| (.*) \|$", index, re.M) == list(titles.items()), "docs/refusals/index.md lists other codes")
    for fault in faults:
        print(f"FAILED  {fault}")
    print(f"codes: {len(codes)}, of which {len(shown)} are shown by cases, {len(NOT_SHOWN)} cannot be: {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
