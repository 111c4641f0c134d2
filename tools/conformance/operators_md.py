"""Writes docs/operators.md from reports of the conformance runner.

    build/conformance node simple pytorch-operator pytorch-converted --report build/conformance.json
    python tools/conformance/operators_md.py build/conformance.json [MORE.json ...] > docs/operators.md

Needs the onnx wheel, which knows all operators and the opsets in which each changed.
"""

import json
import re
import sys
from collections import defaultdict

import onnx.defs

HEADER = """# Operators

Made by `tools/conformance/operators_md.py` from the results of ONNX's backend tests; do not edit.

*Versions* are the opsets since which an operator has the form that passed a test (onnx {version} knows those in parentheses, too).
*Alone* counts tests of the operator by itself, *in graphs* those where it stands among others, where one unsupported operator makes
the whole graph unsupported.
"""


class Row:
    def __init__(self):
        self.alone = [0, 0]
        self.in_graphs = [0, 0]
        self.versions = set()
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


def collect(reports):
    rows = defaultdict(Row)
    for report in reports:
        for case in report["cases"]:
            passed = case["result"] == "passed"
            for operator in case["operators"]:
                row = rows[operator]
                counts = row.alone if len(case["operators"]) == 1 else row.in_graphs
                counts[0] += passed
                counts[1] += 1
                if passed:
                    version = since_version(operator, case["opsets"])
                    if version is not None:
                        row.versions.add(version)
                elif case["result"] == "failed":
                    row.reasons["wrong or failing"] += 1
                elif len(case["operators"]) == 1 or re.search(rf"\b{re.escape(operator)}\b", case["reason"]):
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


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    reports = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            reports.append(json.load(file))
    rows = collect(reports)
    known = all_versions()

    print(HEADER.format(version=onnx.__version__))
    print("| suite | passed | failed | unsupported | total |\n|---|---:|---:|---:|---:|")
    for report in reports:
        for name, tally in report["suites"].items():
            print(f"| {name} | {tally['passed']} | {tally['failed']} | {tally['unsupported']} | {tally['total']} |")

    for domain in sorted({split(operator)[0] for operator in set(rows) | set(known)}):
        print(f"\n## {domain or 'ai.onnx'}\n\n| operator | versions | alone | in graphs | what is missing |\n|---|---|---:|---:|---|")
        for operator in sorted(o for o in set(rows) | set(known) if split(o)[0] == domain):
            row = rows.get(operator, Row())
            reasons = sorted(row.reasons.items(), key=lambda item: (-item[1], item[0]))
            missing = "; ".join(f"{count} x {plain(reason)}" for reason, count in reasons[:3])
            if not row.alone[1] and not row.in_graphs[1]:
                missing = "no test"
            print(
                f"| {split(operator)[1]} | {versions_text(row.versions, known.get(operator, set()))} | {fraction(row.alone)} "
                f"| {fraction(row.in_graphs)} | {missing} |"
            )


if __name__ == "__main__":
    main()
