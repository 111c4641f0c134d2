"""What a case is, and how one is written."""
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

INVALID, USAGE, IO, BUDGET = 1, 2, 3, 4
NOT_ONNX = "not an ONNX model"


@dataclass
class Case:
    name: str
    make: Callable[[Path], None]  # writes model.onnx, and what else is needed, into the folder
    exit: int | set[int]
    says: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    lines: int = 1  # of the error message; 0: any number
    code: str = ""  # that each of these lines must have; "": any
    command: str = ""  # instead of {model} OPTIONS -o {out}/model.cpp; {folder} holds what `make` wrote
    environment: dict[str, str] = field(default_factory=dict)  # with the same places


CASES: list[Case] = []


def case(exit, *says, options=(), lines=1, name=None, code="", command="", environment={}):
    """The decorated function returns the model (bytes or a ModelProto) or writes into the folder itself."""

    def add(function):
        def make(folder):
            result = function(folder) if function.__code__.co_argcount else function()
            if result is not None:
                save(folder, result)

        CASES.append(Case(name or function.__name__, make, exit, list(says), list(options), lines, code, command, dict(environment)))
        return function

    return add


def save(folder, model):
    (folder / "model.onnx").write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
