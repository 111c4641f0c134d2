"""What a unit took when its figures were last written down: golden/figures.txt. More of anything by over 3 % is an error."""
import os
import subprocess
from pathlib import Path

PATH = Path(__file__).resolve().parents[1] / "golden/figures.txt"
FIGURES = ["instructions", "text", "rodata", "weights", "data", "bss", "arena", "stack"]
KEY = ["model", "machine", "level"]
LIMIT = 1.03
# A few words more or less are a matter of alignment.
WORDS = 16


def compiler(machine):
    """As the compiler names itself: figures are of one version."""
    return subprocess.run([machine.compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def read(path=PATH):
    """({machine: compiler}, {(model, machine, level): {figure: number or None}})."""
    compilers, rows = {}, {}
    for text in path.read_text().splitlines() if path.exists() else []:
        if text.startswith("# compiler "):
            machine, _, version = text.removeprefix("# compiler ").partition(": ")
            compilers[machine] = version
        elif text and not text.startswith("#"):
            *key, = text.split()[:3]
            rows[tuple(key)] = {name: None if word == "-" else int(word) for name, word in zip(FIGURES, text.split()[3:], strict=True)}
    return compilers, rows


def write(compilers, rows, path=PATH):
    text = "# Instructions of one run and bytes, by model, machine and level. UPDATE_GOLDEN=1 tests/firmware/run.sh writes this; harness/golden.py compares.\n"
    text += "".join(f"# compiler {machine}: {version}\n" for machine, version in sorted(compilers.items()))
    text += "# " + " ".join([*KEY, *FIGURES]) + "\n"
    for key, figures in sorted(rows.items()):
        text += " ".join([*key, *("-" if figures[name] is None else str(figures[name]) for name in FIGURES)]) + "\n"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def grown(known, row):
    """[(figure, before, now)] of what has grown."""
    pairs = [(name, known[name], row[name]) for name in FIGURES if known[name] is not None and row[name] is not None]
    return [pair for pair in pairs if pair[2] > pair[1] * LIMIT and pair[2] > pair[1] + WORDS]


def check(rows, machines):
    """Compares right rows with what is written down, or writes them down with UPDATE_GOLDEN=1. Returns whether nothing has grown."""
    compilers, known = read()
    rows = [row for row in rows if "wrong" not in row]
    if os.environ.get("UPDATE_GOLDEN") == "1":
        known |= {tuple(row[k] for k in KEY): {name: row[name] for name in FIGURES} for row in rows}
        write(compilers | {machine.name: compiler(machine) for machine in machines}, known)
        return True
    others = [machine.name for machine in machines if compilers.get(machine.name, compiler(machine)) != compiler(machine)]
    if others:
        print(f"not compared for {', '.join(others)}: golden/figures.txt is of another compiler")
    compared, problems = 0, []
    for row in rows:
        key = tuple(row[k] for k in KEY)
        if row["machine"] in others:
            continue
        if key not in known:
            problems.append(f"  {' '.join(key)}: nothing is written down; UPDATE_GOLDEN=1 writes it")
            continue
        compared += 1
        problems += [f"  {' '.join(key):<45} {name:<13} {before:>12,} -> {now:>12,}  {100 * now / max(before, 1) - 100:+.1f} %" for name, before, now in grown(known[key], row)]
    print(f"{compared} rows compared with golden/figures.txt" + (": more than 3 % larger" if problems else ""))
    print("\n".join(problems), end="\n" if problems else "")
    return not problems
