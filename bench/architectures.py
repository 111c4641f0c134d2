#!/usr/bin/env python3
"""Writes networks of well-known kinds with random weights, for comparisons beyond the zoo: layers of many shapes, as papers have them.

  bench/architectures.py models                 all of them, models/NAME/model.onnx
  bench/architectures.py models vgg11 dcgan     these
  bench/architectures.py --list
  bench/peers.py models/*/                      compares onnxc with the other engines on them

Exit status: 0, or 2 for wrong usage.
"""
import argparse
import sys
from pathlib import Path

import onnx

from kinds import KINDS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", metavar="DIR", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    options = parser.parse_args()
    if options.list:
        print("\n".join(KINDS))
        return
    if options.folder is None:
        parser.error("a folder is needed")
    for name in options.names:
        if name not in KINDS:
            parser.error(f"no architecture is called '{name}'; --list prints those that there are")
    for name in options.names or KINDS:
        network, result = KINDS[name]()
        folder = options.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(network.model(result), folder / "model.onnx")
        print(folder / "model.onnx", file=sys.stderr)


if __name__ == "__main__":
    main()
