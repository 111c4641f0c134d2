#!/usr/bin/env python3
"""Trains classical models of the usual kinds on made-up data and writes them: forests, support vectors, neighbours, pipelines.

  bench/classical_models.py models                          all of them, models/NAME/model.onnx, with 10,000 rows in test_data_set_0
  bench/classical_models.py models lightgbm_500 svc_rbf     these
  bench/classical_models.py --list
  bench/classical_peers.py models/*/                        compares onnxc with the other engines on them

Beside the model lies what other engines read of the same forest: lightgbm.txt, xgboost.ubj, forest.treelite. What is there already is not trained again.
Exit status: 0, 1 where a model could not be made, 2 for wrong usage, 77 where scikit-learn and its converters are not installed (tools/setup.sh --bench-deps).
"""
import argparse
import sys
import traceback
import warnings
from pathlib import Path

import environment

NEEDED = ("sklearn", "lightgbm", "xgboost", "skl2onnx", "onnxmltools", "treelite")


def write(folder, made):
    """Into a folder that appears when it is whole."""
    import onnx
    from onnx import numpy_helper

    fresh = folder.with_name(f".{folder.name}")
    data = fresh / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(made.model, fresh / "model.onnx")
    for k, (name, array) in enumerate(made.rows.items()):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
    for name, content in made.files.items():
        (fresh / name).write_bytes(content)
    fresh.rename(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", metavar="DIR", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    options = parser.parse_args()
    try:
        environment.enter(NEEDED)
    except environment.Missing as error:
        print(f"classical_models: {error}", file=sys.stderr)
        return 77
    warnings.simplefilter("ignore")
    from classical import KINDS

    if options.list:
        print("\n".join(KINDS))
        return 0
    if options.folder is None:
        parser.error("a folder is needed")
    for name in options.names:
        if name not in KINDS:
            parser.error(f"no model is called '{name}'; --list prints those that there are")
    failed = 0
    for name in options.names or KINDS:
        folder = options.folder / name
        if not folder.exists():
            try:
                write(folder, KINDS[name]())
            except Exception:
                failed = 1
                traceback.print_exc()
                continue
        print(folder / "model.onnx", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
