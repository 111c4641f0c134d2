"""A small detector, whose last part stays on the processor: its boxes are those of ONNX Runtime.

Convolutions, the decoding of boxes and the scores run on the emulated GPU, NonMaxSuppression on the processor, for its result has a size that only the run tells; what is gathered
by it runs on the GPU again. The images give no box, few and many. Tolerance: 1e-4 relative and 1e-5 absolute, for values of the size of 1.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import helper as h
from onnx import numpy_helper

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from networks import conv, make_model, node, reference, values, weights  # noqa: E402

ONNXC = os.environ["ONNXC_EXECUTABLE"]
SIDE = 32


def detector():
    """f32[1, 3, 32, 32] -> boxes f32[n, 4] in pixels, scores f32[n, 3] and, as floats, what NonMaxSuppression says of each."""
    nodes = [conv("image w0", "c0", strides=[2, 2]), node("Relu", "c0", "r0"), conv("r0 w1", "c1", strides=[2, 2]), node("Relu", "c1", "r1"),
             conv("r1 w2", "c2"), node("Add", "c2 r1", "sum"), node("Relu", "sum", "r2"),
             conv("r2 ws", "raw_scores", kernel=1), node("Sigmoid", "raw_scores", "score_maps"), node("Reshape", "score_maps flat_scores", "scores"),
             conv("r2 wb", "raw_boxes", kernel=1), node("Reshape", "raw_boxes flat_boxes", "by_channel"), node("Transpose", "by_channel", "offsets", perm=[0, 2, 1]),
             node("Add", "offsets anchors", "boxes"),
             node("NonMaxSuppression", "boxes scores most overlap least", "chosen", center_point_box=1),
             node("Gather", "chosen column_of_box", "places", axis=1), node("Gather", "boxes first", "of_image", axis=0), node("Gather", "of_image places", "gathered", axis=0),
             node("Mul", "gathered pixels", "found"), node("Reshape", "found rows_of_4", "found_boxes"), node("Cast", "chosen", "found_where", to=1),
             node("Transpose", "scores", "by_place", perm=[0, 2, 1]), node("Gather", "by_place first", "scores_of_image", axis=0),
             node("Gather", "scores_of_image places", "found_scores", axis=0)]
    cells = (SIDE // 4) ** 2
    centres = (np.arange(SIDE // 4, dtype=np.float32) + 0.5) * 4 / SIDE
    anchors = np.stack([*np.meshgrid(centres, centres), *[np.full((SIDE // 4, SIDE // 4), 0.3, np.float32)] * 2], -1).reshape(1, cells, 4)
    constants = dict(w0=weights(8, 3, 3, 3), w1=weights(16, 8, 3, 3), w2=weights(16, 16, 3, 3), ws=weights(3, 16, 1, 1) * 4, wb=weights(4, 16, 1, 1) * np.float32(0.1),
                     flat_scores=np.array([1, 3, cells]), flat_boxes=np.array([1, 4, cells]), anchors=anchors.astype(np.float32), most=np.array([5]),
                     overlap=np.array([0.4], np.float32), least=np.array([0.6], np.float32), column_of_box=np.array(2), first=np.array(0),
                     pixels=np.array(SIDE, np.float32), rows_of_4=np.array([-1, 4]))
    return make_model("detector", nodes, constants, "found_boxes found_scores found_where", {"image": values(1, 3, SIDE, SIDE)})


def write(folder, images, model):
    """Data sets of the ONNX backend tests' form. Returns how many boxes each image has."""
    counts = []
    for i, image in enumerate(images):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        results = reference(model, {"image": image})
        counts.append(len(results[0]))
        for kind, arrays in (("input", [image]), ("output", results)):
            for k, array in enumerate(arrays):
                (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    return counts


def onnxc(*arguments):
    done = subprocess.run([ONNXC, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def devices_of(text):
    """What `--explain` tells: the device of each step that a line begins."""
    devices, step = {}, None
    for line in text.splitlines():
        if not line.startswith(" "):
            step = line
        elif line.strip().startswith("on the "):
            devices[step] = line.split()[2].rstrip(":")
    return devices


def main():
    model = detector()
    faults = []
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        path = folder / "detector.onnx"
        path.write_bytes(model.SerializeToString())
        counts = write(folder, [values(1, 3, SIDE, SIDE) * np.float32(scale) for scale in (0, 0.5, 1, 3)], model)
        if min(counts) > 0 or max(counts) < 8:
            faults.append(f"the images have {counts} boxes, among which none and many have to be")
        for devices in ("gpu,cpu", "auto"):
            options = ("--target", "cuda-sm80", f"--devices={devices}", "-O1")
            status, said = onnxc("run", path, "--data", folder, "--rtol", 1e-4, "--atol", 1e-5, *options)
            if status != 0:
                faults.append(f"--devices={devices}: {said.strip()[-500:]}")
        status, said = onnxc(path, "-o", folder / "unit.cu", "--target", "cuda-sm80", "--devices=gpu,cpu", "--explain")
        if status != 0:
            faults.append(said.strip()[-500:])
        devices = devices_of(said)
        for kind, device in (("NonMaxSuppression", "host"), ("Conv", "GPU"), ("Gather 'found_scores'", "GPU")):
            if {of for step, of in devices.items() if step.startswith(kind)} != {device}:
                faults.append(f"{kind} is not on the {device}")
    print(f"a detector on two devices: {sum(counts)} boxes in {len(counts)} images")
    for fault in faults:
        print(fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
