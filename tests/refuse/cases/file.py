"""The file: none, of another kind, cut short, with bytes changed."""
import os
import random

from .case import BUDGET, CASES, INVALID, IO, NOT_ONNX, Case, case, save
from .models import good, message


@case(INVALID, "empty")
def empty():
    return b""


def truncations():
    whole = good().SerializeToString()
    offsets = sorted({1, 2, 3, 5, 8, 13, *range(16, len(whole), max(1, len(whole) // 24)), len(whole) - 2, len(whole) - 1})
    for at in offsets:
        CASES.append(Case(f"truncated at {at} of {len(whole)}", lambda folder, at=at: save(folder, whole[:at]), INVALID))


truncations()


def random_bytes():
    for seed, size in enumerate((1, 7, 64, 1000, 100_000)):
        data = random.Random(seed).randbytes(size)
        CASES.append(Case(f"random, {size} bytes", lambda folder, data=data: save(folder, data), INVALID, [NOT_ONNX]))


random_bytes()


def flipped_bytes():
    """Anything may come of these but a crash, a hang or a mess."""
    whole = good().SerializeToString()
    for seed in range(60):
        generator = random.Random(seed)
        data = bytearray(whole)
        for _ in range(generator.choice((1, 1, 2, 5))):
            data[generator.randrange(len(data))] = generator.randrange(256)
        CASES.append(Case(f"flipped bytes, seed {seed}", lambda folder, data=bytes(data): save(folder, data), {0, INVALID, BUDGET}, lines=0))


flipped_bytes()


@case(INVALID, NOT_ONNX, "text", code="E0102")
def text():
    return b"import torch\nmodel = torch.nn.Linear(3, 4)\n"


@case(INVALID, NOT_ONNX, "zip")
def zip_archive():
    return b"PK\x03\x04\x14\x00\x00\x00" + bytes(100)


@case(INVALID, NOT_ONNX, "TensorFlow Lite")
def tflite():
    return b"\x1c\x00\x00\x00TFL3" + bytes(100)


@case(INVALID, NOT_ONNX, "pickle")
def pickle():
    return b"\x80\x04\x95" + bytes(100)


@case(INVALID, NOT_ONNX)
def trailing_junk():
    return good().SerializeToString() + b"\xff\xff\xff\xffjunk"


@case(IO, "not a regular file")
def directory(folder):
    (folder / "model.onnx").mkdir()


@case(IO, "not a regular file")
def fifo(folder):
    os.mkfifo(folder / "model.onnx")


@case(IO, "no such file", code="E0101")
def missing(folder):
    pass


@case(IO, "not a regular file")
def device(folder):
    (folder / "model.onnx").symlink_to("/dev/zero")


if os.getuid() != 0:

    @case(IO, "cannot be read")
    def unreadable(folder):
        save(folder, good())
        (folder / "model.onnx").chmod(0)


@case(INVALID, "2 GiB", code="E0103")
def over_two_gigabytes(folder):
    with open(folder / "model.onnx", "wb") as file:
        file.truncate((2 << 30) + 5)


@case(INVALID, "nested too deeply", code="E0104")
def nesting_bomb():
    """A graph in an attribute of a node of a graph in an attribute of a node ..."""
    graph = b""
    for _ in range(3000):
        graph = message(1, message(5, message(6, graph)))
    return b"\x08\x0a" + message(7, graph)


@case({0, INVALID})
def invalid_utf8():
    return good().SerializeToString().replace(b"relu", b"\xff\xfe\xc0\x80")
