"""Small models of operators whose oracle is ONNX Runtime, onnx.reference or numpy: each is run by both and compared.

    check.py [REGEX]      those of which the name or an operator matches, in any case

check_*.py state Checks (harness.py); cases_*.py have functions that yield Cases (case.py), one small model each, which state how far results may lie apart: `rtol` and
`atol` for floats, `off` steps for integers, where a rounding may fall to the other side. One process runs all, so that every processor has work to the end.
"""
import importlib
import pathlib
import re
import sys

import harness

FOLDER = pathlib.Path(__file__).parent


def matches(pattern, each):
    return pattern.search(each.name) or any(pattern.search(node.op_type) for node in each.unit().model.graph.node)


def main():
    modules = {kind: [importlib.import_module(path.stem) for path in sorted(FOLDER.glob(f"{kind}_*.py"))] for kind in ("check", "cases")}
    checks = [*harness.CHECKS, *(case for module in modules["cases"] for case in module.cases())]
    if len(sys.argv) > 1:
        pattern = re.compile(sys.argv[1], re.IGNORECASE)
        checks = [each for each in checks if matches(pattern, each)]
    if not checks:
        sys.exit("no check has such a name or operator")
    return harness.run_all(checks)


if __name__ == "__main__":
    sys.exit(main())
