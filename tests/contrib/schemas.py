"""Holds the schemas that onnxc has of ONNX Runtime's operators (compiler/frontend/contrib_schemas.inc) against those of ONNX Runtime's Python package: inputs and
outputs with their options and types, and attributes. What the package lists further, a newer input or attribute, must be in the table too.

    schemas.py
"""
import pathlib
import re
import sys

import onnxruntime.capi.onnxruntime_pybind11_state as runtime

TABLE = pathlib.Path(__file__).resolve().parents[2] / "compiler/frontend/contrib_schemas.inc"
ROW = re.compile(r"([\w.]+)\((.*?)\) -> \((.*?)\)(?: \{(.*?)\})?(?: where (.*))?")
MARKS = {"": "Single", "?": "Optional", "*": "Variadic"}


def full(element):
    return element if "(" in element else f"tensor({element})"


def operands(text, variables):
    """[(name, option, homogeneous, types)] of `A: T[2], B?: each float`."""
    found = []
    for name, mark, each, kind in re.findall(r"(\w+)([?*]?): (each )?(\w+)(?:\[[\d ]+\])?(?:, |$)", text):
        found.append((name, MARKS[mark], not each, variables.get(kind) or {full(kind)}))
    return found


def table():
    text = TABLE.read_text().split('R"(', 1)[1].rsplit(')"', 1)[0]
    rows = {}
    for line in re.sub(r"\n +", " ", text).strip().split("\n"):
        name, inputs, outputs, attributes, where = ROW.fullmatch(line).groups()
        variables = {}
        for part in (where or "").split("; "):
            if part:
                variable, types = part.split(" = ")
                variables[variable] = {full(t) for t in types.split(", ")}
        listed = {}
        for a in (attributes or "").split(", "):
            if a:
                key, kind = a.split(": ")
                listed[key.rstrip("!")] = (kind, key.endswith("!"))
        rows[name] = operands(inputs, variables), operands(outputs, variables), listed
    return rows


def theirs(schema):
    def of(parameters):
        return [(p.name, str(p.option).split(".")[-1], p.isHomogeneous, set(p.types)) for p in parameters]

    return of(schema.inputs), of(schema.outputs), {k: (str(a.type).split(".")[-1].lower(), a.required) for k, a in schema.attributes.items()}


def main():
    schemas = {}
    for s in runtime.get_all_operator_schema():
        name = f"{s.domain}.{s.name}" if s.domain else s.name
        schemas.setdefault(name, {})[s.since_version] = s
    rows, wrong = table(), 0
    for name, ours in rows.items():
        if name not in schemas:
            print(f"{name}: ONNX Runtime has no such operator")
            wrong += 1
            continue
        for what, a, b in zip(("inputs", "outputs", "attributes"), ours, theirs(schemas[name][1])):
            if a != b:
                print(f"{name}: {what} are\n  {a}, and in ONNX Runtime\n  {b}")
                wrong += 1
    print(f"schemas: {len(rows)} operators, {wrong} differ from ONNX Runtime's")
    return wrong != 0


sys.exit(main())
