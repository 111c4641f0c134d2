"""Small decoders of samples/llm/network.py in its several forms: models.py FOLDER writes those of PROGRAMS, and prints name, file and options of each."""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, "samples/llm")
import network  # noqa: E402

SIZE = network.Size(layers=2, width=64, heads=4, groups=2, inner=96, vocabulary=1100, positions=1024)
# The program's name, form and bits of its model, and onnxc's options.
PROGRAMS = [
    ("threads", "primitives", 0, ["--threads=2", "--weights=file"]),
    ("generative", "packed", 0, []),
    ("bits", "separate", 4, []),
]


def weights(bits):
    """The head of 4 bits is one of its own, since the embeddings stay floats."""
    return network.random_weights(SIZE, bits == 0, 2)


def dequantised(matrix):
    """[columns, depth] from what MatMulNBits would have of it."""
    codes, scales = network.quantised(matrix)
    columns, blocks, _ = codes.shape
    values = np.stack([codes & 15, codes >> 4], axis=-1).reshape(columns, blocks, network.BLOCK).astype(np.float32) - 8
    return (values * scales[:, :, None]).reshape(matrix.shape)


def rounded(weight):
    def of(name):
        value = weight(name)
        if value.ndim == 1 or name == "embed_tokens":
            return value
        return dequantised(value) if name == "lm_head" else dequantised(value.T).T

    return of


def written(folder, form, bits):
    """primitives, or the generative form with a packed product or separate ones. Large weights lie in a file beside the model."""
    path = Path(folder) / f"{form}{bits}.onnx"
    if not path.exists():
        weight = weights(bits)
        if form == "primitives":
            network.write(path, SIZE, rounded(weight) if bits else weight, tied=bits == 0)
        else:
            network.write(path, SIZE, weight, "generative", bits == 0, form == "separate", bits)
    return path


if __name__ == "__main__":
    for name, form, bits, options in PROGRAMS:
        print(name, written(sys.argv[1], form, bits), *options)
