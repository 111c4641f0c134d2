"""Writes docs/operators.md from what became of tests.

    export ONNXC_REPORT=$PWD/build/checks.jsonl; rm -f $ONNXC_REPORT     # tests/contrib and tests/ml add their models to it
    build/conformance node simple pytorch-operator pytorch-converted light --report build/conformance.json
    tests/conformance/earlier.sh
    tests/contrib/run.sh; tests/ml/run.sh; tests/differential/run.sh --all
    python tools/conformance/operators_md.py build/{conformance,conformance-1.12,differential}.json build/checks.jsonl > docs/operators.md

Needs the onnx wheel, which knows all operators and the opsets in which each changed. deviations.json states by hand what no test can say.
"""

import json
import pathlib
import re
import sys
from collections import defaultdict

import onnx.defs

HEADER = """# Operators

Made by `tools/conformance/operators_md.py` from the results of tests; do not edit. The tests: ONNX's backend suites of {version} and 1.12 (whose cases hold
earlier opsets; six of them are at fault themselves, see `tests/conformance/faulty-1.12.txt`), and onnxc's own against ONNX Runtime and onnx.reference
(`tests/differential`, `tests/contrib`, `tests/ml`).

*Versions* are the opsets since which an operator has the form that passed a test; onnx {version} knows those in parentheses, too, which `resolve` brings to
the latest form. *Types* are the element types at the border of models of the operator alone that passed. *Passed* counts tests of the operator alone, *in
graphs* those where it stands among others. *Done by*: the rows of the kernel catalogue that ran it, or `map`, a loop that is emitted for its expression;
`folded` where nothing is left to run. *Deviations* are from the specification or from what ONNX Runtime does where that is silent.
"""
ORDER = "f64 f32 f16 bf16 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0 f4e2m1 i64 i32 i16 i8 i4 i2 u64 u32 u16 u8 u4 u2 bool string c64 c128".split()


class Row:
    def __init__(self):
        self.alone = [0, 0]
        self.in_graphs = [0, 0]
        self.versions = set()
        self.types = set()
        self.kernels = defaultdict(int)
        self.folded = False
        self.reasons = defaultdict(int)


def split(operator):
    """`ai.onnx.ml.Scaler` -> (`ai.onnx.ml`, `Scaler`)"""
    domain, _, name = operator.rpartition(".")
    return domain, name


def since_version(operator, opsets):
    domain, name = split(operator)
    try:
        return onnx.defs.get_schema(name, opsets.get(domain, 1), domain).since_version
    except onnx.defs.SchemaError:
        return None


def collect(cases):
    rows = defaultdict(Row)
    for case in cases:
        passed = case["result"] == "passed"
        alone = len(case["operators"]) == 1
        for operator in case["operators"]:
            row = rows[operator]
            counts = row.alone if alone else row.in_graphs
            counts[0] += passed
            counts[1] += 1
            if passed:
                version = since_version(operator, case["opsets"])
                if version is not None:
                    row.versions.add(version)
                if alone:
                    row.types |= set(case["elements"])
                    row.folded = row.folded or not case["kernels"]
                    for kernel in case["kernels"]:
                        row.kernels[kernel] += 1
            elif case["result"] == "failed":
                row.reasons["wrong or failing"] += 1
            elif alone or re.search(rf"\b{re.escape(operator)}\b", case["reason"]):
                row.reasons[re.sub(r" '[^']*'", "", case["reason"])] += 1
    return rows


def all_versions():
    versions = defaultdict(set)
    for schema in onnx.defs.get_all_schemas_with_history():
        operator = schema.name if schema.domain == "" else f"{schema.domain}.{schema.name}"
        versions[operator].add(schema.since_version)
    return versions


def plain(text, limit=160):
    text = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return text if len(text) <= limit else text[:limit] + "..."


def versions_text(passed, known):
    rest = sorted(known - passed)
    text = ", ".join(map(str, sorted(passed)))
    if rest:
        text += (" " if text else "") + "(" + ", ".join(map(str, rest)) + ")"
    return text


def fraction(counts):
    return f"{counts[0]}/{counts[1]}" if counts[1] else ""


def kernels_text(row, most=4):
    names = sorted(row.kernels, key=lambda k: (-row.kernels[k], k))
    text = ", ".join(f"`{name}`" for name in names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
    return text or ("folded" if row.folded and row.alone[0] else "")


def faulty():
    """Cases of ONNX 1.12 that are wrong themselves."""
    text = (pathlib.Path(__file__).parents[2] / "tests" / "conformance" / "faulty-1.12.txt").read_text(encoding="utf-8")
    return {line.split()[0] for line in text.splitlines() if line and not line.startswith("#")}


def read(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.endswith(".jsonl") else json.loads(text)["cases"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tallies = []
    cases = []
    for path in sys.argv[1:]:
        some = read(path)
        release = " of ONNX 1.12" if "1.12" in path else ""
        suites = defaultdict(lambda: [0, 0, 0])
        for case in some:
            suites[case["suite"] + release][["passed", "failed", "unsupported"].index(case["result"])] += 1
        tallies += sorted(suites.items())
        cases += [case for case in some if not (release and f"{case['suite']}/{case['name']}" in faulty())]
    rows = collect(cases)
    known = all_versions()
    deviations = json.loads((pathlib.Path(__file__).parent / "deviations.json").read_text(encoding="utf-8"))
    assert all(operator in known or operator in rows for operator in deviations), "deviations.json names an operator that no one knows"

    print(HEADER.format(version=onnx.__version__))
    print("| suite | passed | failed | unsupported | total |\n|---|---:|---:|---:|---:|")
    for name, (passed, failed, unsupported) in tallies:
        print(f"| {name} | {passed} | {failed} | {unsupported} | {passed + failed + unsupported} |")

    for domain in sorted({split(operator)[0] for operator in set(rows) | set(known) | set(deviations)}):
        print(f"\n## {domain or 'ai.onnx'}\n\n| operator | versions | types | passed | in graphs | done by | deviations |\n|---|---|---|---:|---:|---|---|")
        for operator in sorted(o for o in set(rows) | set(known) if split(o)[0] == domain):
            row = rows.get(operator, Row())
            reasons = sorted(row.reasons.items(), key=lambda item: (-item[1], item[0]))
            notes = [f"{count} x {plain(reason)}" for reason, count in reasons[:3]]
            if operator in deviations:
                notes.insert(0, plain(deviations[operator], 1000))
            if not row.alone[1] and not row.in_graphs[1]:
                notes.append("no test")
            types = " ".join(sorted(row.types, key=ORDER.index))
            print(
                f"| {split(operator)[1]} | {versions_text(row.versions, known.get(operator, set()))} | {types} | {fraction(row.alone)} "
                f"| {fraction(row.in_graphs)} | {kernels_text(row)} | {'; '.join(notes)} |"
            )


if __name__ == "__main__":
    main()
