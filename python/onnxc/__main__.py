"""`python -m onnxc` and the script `onnxc`: the compiler itself, with these arguments."""
import os
import sys

from .build import find_executable


def main():
    try:
        executable = find_executable()
    except FileNotFoundError as error:
        sys.exit(f"onnxc: {error}")
    os.execv(executable, ["onnxc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
