"""Writes ONNX's backend tests as folders: model.onnx, test_data_set_0/{input,output}_K.pb, data.json with tolerances.

    generate_suite.py OUT SUITE ...      SUITE: node light simple pytorch-converted pytorch-operator

Everything comes from the installed onnx wheel, whose version must be the pinned one. A suite that is complete is left alone, so a second
call costs nothing. Nothing is deselected: the node suite has exactly 1884 cases for onnx 1.23.2.
"""

import json
import os
import shutil
import sys
from pathlib import Path

PINNED_VERSION = "1.23.2"
EXPECTED_CASES = {"node": 1884, "light": 9, "simple": 23, "pytorch-converted": 82, "pytorch-operator": 35}


def write_value(path, value, value_info):
    """One .pb file: a TensorProto, SequenceProto, OptionalProto or MapProto, by the type of the model's input or output."""
    from onnx import TensorProto, numpy_helper

    kind = value_info.type.WhichOneof("value")
    if isinstance(value, TensorProto):
        proto = value
    elif kind == "sequence_type":
        proto = numpy_helper.from_list(value, value_info.name)
    elif kind == "optional_type":
        proto = numpy_helper.from_optional(value, value_info.name)
    elif kind == "map_type":
        proto = numpy_helper.from_dict(value, value_info.name)
    else:
        proto = numpy_helper.from_array(value, value_info.name)
    path.write_bytes(proto.SerializeToString())


def generate_node(out):
    from onnx.backend.test.loader import load_model_tests

    for case in load_model_tests(kind="node"):
        folder = out / case.name
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
        for number, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{number}"
            data.mkdir()
            for kind, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
                assert len(values) == len(infos), case.name
                for k, value in enumerate(values):
                    write_value(data / f"{kind}_{k}.pb", value, infos[k])


def generate_light(out):
    """Large networks with constant weights; the input is 0, 1/n, 2/n, ... as in ONNX's runner, the output lies in the wheel."""
    import onnx
    import onnx.backend.test
    from onnx.backend.test.case.model import collect_testcases
    from onnx.backend.test.runner import Runner

    package = Path(onnx.__file__).parent.parent
    for case in collect_testcases():
        if not (case.url or "").startswith("onnx/backend/test/data/light/"):
            continue
        source = package / case.url
        folder = out / case.name
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        shutil.copy(source, folder / "model.onnx")
        (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
        graph = onnx.load(source).graph
        initialised = {i.name for i in graph.initializer}
        inputs = [i for i in graph.input if i.name not in initialised]
        for k, info in enumerate(inputs):
            write_value(data / f"input_{k}.pb", Runner.generate_dummy_data(info), info)
        for k in range(len(graph.output)):
            shutil.copy(source.with_name(f"{source.stem}_output_{k}.pb"), data / f"output_{k}.pb")


def copy_suite(suite, out):
    """The suites that the wheel holds as folders."""
    import onnx.backend.test

    source = Path(onnx.backend.test.__file__).parent / "data" / suite
    for folder in sorted(source.iterdir()):
        if (folder / "model.onnx").exists():
            shutil.copytree(folder, out / folder.name)


def generate(root, suite):
    out = root / suite
    if (out / ".complete").exists():
        return
    temporary = root / f"{suite}.tmp{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    if suite == "node":
        generate_node(temporary)
    elif suite == "light":
        generate_light(temporary)
    else:
        copy_suite(suite, temporary)
    count = sum(1 for folder in temporary.iterdir() if (folder / "model.onnx").exists())
    if count != EXPECTED_CASES[suite]:
        sys.exit(f"generate_suite: {suite} has {count} cases, not {EXPECTED_CASES[suite]}")
    (temporary / ".complete").touch()
    shutil.rmtree(out, ignore_errors=True)
    temporary.rename(out)


def main():
    if len(sys.argv) < 3 or any(suite not in EXPECTED_CASES for suite in sys.argv[2:]):
        sys.exit(__doc__)
    import warnings

    import onnx

    if onnx.__version__ != PINNED_VERSION:
        sys.exit(f"generate_suite: this is onnx {onnx.__version__}, but {PINNED_VERSION} is pinned")
    warnings.simplefilter("ignore")  # the cases divide by zero on purpose
    for suite in sys.argv[2:]:
        generate(Path(sys.argv[1]), suite)


if __name__ == "__main__":
    main()
