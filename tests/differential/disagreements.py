"""What ONNX Runtime and onnx.reference disagree on, or one of them has wrong, by operator: whom the tests follow, and why."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    operators: str            # names, separated by blanks
    follow: str               # runtime, reference, neither
    reason: str
    when: object = None       # of a Spec; None: always
    always: bool = False      # also where both agree or only one answers: the other one is not to be trusted


ROWS = []


def row_for(spec, runtime, reference, differ):
    for row in ROWS:
        if spec.op in row.operators.split() and (row.when is None or row.when(spec)):
            if differ and runtime and reference:
                return row
            if row.always and (row.follow == "neither" or {"runtime": runtime, "reference": reference}[row.follow] is False or differ):
                return row
            # The one that is not to be trusted alone answers.
            if row.always and row.follow == "runtime" and not runtime or row.always and row.follow == "reference" and not reference:
                return row
    return None
