"""`python -m onnxc` and the script `onnxc`: the compiler itself, with these arguments."""
from __future__ import annotations

import os
import sys
from typing import NoReturn

from .build import find_executable


def main() -> NoReturn:
    try:
        executable = find_executable()
    except FileNotFoundError as error:
        sys.exit(f"onnxc: {error}")
    os.execv(executable, ["onnxc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
