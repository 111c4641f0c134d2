"""Weights in files beside the model: what they lack, and files that they must not reach."""
import os

from onnx import TensorProto as T

from .case import INVALID, case
from .models import F, with_weight


def external(location, dims=(2, 3), **fields):
    w = T(name="w", dims=dims, data_type=F, data_location=T.EXTERNAL)
    for key, v in {"location": location, **fields}.items():
        w.external_data.add(key=key, value=str(v))
    return with_weight(w)


@case(0)
def external_good(folder):
    (folder / "data.bin").write_bytes(bytes(100))
    return external("data.bin", offset=8, length=24)


# A file of the right size outside of the model's folder is what these try to read.


@case(INVALID, "'w'", code="E0105")
def external_parent(folder):
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    return external("../secret.bin")


@case(INVALID, "'w'")
def external_hidden_parent(folder):
    (folder / "sub").mkdir()
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    return external("sub/../../secret.bin")


@case(INVALID, "'w'")
def external_absolute(folder):
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    return external(str(folder.parent / "secret.bin"))


@case(INVALID, "'w'")
def external_symlink(folder):
    (folder.parent / "secret.bin").write_bytes(bytes(24))
    (folder / "data.bin").symlink_to(folder.parent / "secret.bin")
    return external("data.bin")


@case(INVALID, "'w'")
def external_linked_folder(folder):
    (folder.parent / "secrets").mkdir(exist_ok=True)
    (folder.parent / "secrets" / "data.bin").write_bytes(bytes(24))
    (folder / "sub").symlink_to(folder.parent / "secrets")
    return external("sub/data.bin")


@case(INVALID, "'w'")
def external_hard_link(folder):
    (folder.parent / "hard.bin").write_bytes(bytes(24))
    os.link(folder.parent / "hard.bin", folder / "data.bin")
    return external("data.bin")


@case(INVALID, "'w'")
def external_fifo(folder):
    os.mkfifo(folder / "data.bin")
    return external("data.bin")


@case(INVALID, "'w'")
def external_directory(folder):
    (folder / "data.bin").mkdir()
    return external("data.bin")


@case(INVALID, "'w'", code="E0105")
def external_missing(folder):
    return external("data.bin")


@case(INVALID, "'w'")
def external_no_location(folder):
    return external("")


@case(INVALID, "'w'", "too short", code="E0106")
def external_short(folder):
    (folder / "data.bin").write_bytes(bytes(23))
    return external("data.bin")


@case(INVALID, "'w'", "too short")
def external_offset_beyond(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=1)


@case(INVALID, "'w'", "offset")
def external_negative_offset(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=-8)


@case(INVALID, "'w'")
def external_huge_offset(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=(1 << 63) - 8)


@case(INVALID, "'w'")
def external_overflowing_offset(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", offset=1 << 64)


@case(INVALID, "'w'", "length")
def external_bad_length(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", length="twenty-four")


@case(INVALID, "'w'", "23 bytes")
def external_wrong_length(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", length=23)


@case(INVALID, "'w'", "too short")
def external_claims_gigabytes(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin", dims=(1 << 33,))


@case(INVALID, "'w'", "NUL")
def external_nul(folder):
    (folder / "data.bin").write_bytes(bytes(24))
    return external("data.bin\0.txt")
