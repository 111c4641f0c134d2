"""Makes custom_operator.onnx and expected.txt: how close each of some places is to five cities, by an operator that ONNX does not have.

    make.py          in this folder; needs numpy and onnx
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CITIES = {"Lisbon": (38.72, -9.14), "Nairobi": (-1.29, 36.82), "Lima": (-12.05, -77.04), "Tokyo": (35.68, 139.69), "Perth": (-31.95, 115.86)}
PLACES = [(40.42, -3.70), (37.57, 126.98), (-33.45, -70.67), (0.0, 0.0), (-6.2, 106.8), (64.15, -21.94)]


def haversine(a, b, radius=6371.0):
    a, b = np.radians(np.asarray(a, np.float64))[:, None], np.radians(np.asarray(b, np.float64))[None]
    half = np.sin((a - b) / 2) ** 2
    return 2 * radius * np.arcsin(np.sqrt(half[..., 0] + np.cos(a[..., 0]) * np.cos(b[..., 0]) * half[..., 1]))


nodes = [
    helper.make_node("Haversine", ["places", "cities"], ["distances", "nearest"], name="measure", domain="geo", unit="km"),
    helper.make_node("Div", ["distances", "scale"], ["scaled"]),
    helper.make_node("Neg", ["scaled"], ["negative"]),
    helper.make_node("Exp", ["negative"], ["closeness"]),
]
weights = [numpy_helper.from_array(np.array(list(CITIES.values()), np.float32), "cities"), numpy_helper.from_array(np.float32(1000), "scale")]
inputs = [helper.make_tensor_value_info("places", TensorProto.FLOAT, ["n", 2])]
outputs = [helper.make_tensor_value_info("closeness", TensorProto.FLOAT, ["n", 5]), helper.make_tensor_value_info("nearest", TensorProto.INT64, ["n"])]
opsets = [helper.make_opsetid("", 21), helper.make_opsetid("geo", 1)]
model = helper.make_model(helper.make_graph(nodes, "closeness", inputs, outputs, weights), opset_imports=opsets, ir_version=10)
onnx.save(model, "custom_operator.onnx")

distances = haversine(PLACES, list(CITIES.values()))
with open("expected.txt", "w") as file:
    file.write(f"# latitude, longitude, closeness to {', '.join(CITIES)}, the nearest of them\n")
    for place, row in zip(PLACES, distances):
        file.write(" ".join(f"{v:.2f}" for v in place) + "  " + " ".join(f"{v:.6f}" for v in np.exp(-row / 1000)) + f"  {row.argmin()}\n")
