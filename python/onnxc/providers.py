"""What a session runs on, by the names that onnxruntime has for it."""
from __future__ import annotations

import ctypes as c
import functools
import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from .arguments import Provider

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_NAMES = {"cpu": CPU, "cuda": CUDA, CPU.lower(): CPU, CUDA.lower(): CUDA}


def get_available_providers() -> list[str]:
    """CUDA where there are a GPU and nvcc; its emulator is there always, and told apart by a warning."""
    return [CUDA] * (gpu_capability() is not None and has_nvcc()) + [CPU]


def first_of(providers: Sequence[Provider], each_options: Sequence[Mapping[str, Any]] | None = None) -> tuple[str, dict[str, Any]]:
    """The first provider and its options: a list has names, or pairs of a name and a dict, as onnxruntime takes them. `each_options`: a list of dicts
    beside the names."""
    if isinstance(providers, str) or not providers:
        raise ValueError(f'providers is {providers!r}; a list is wanted, such as ["cuda"]')
    if each_options is not None:
        if len(each_options) != len(providers):
            raise ValueError(f"there are {len(each_options)} provider_options for {len(providers)} providers")
        providers = [(name if isinstance(name, str) else name[0], options) for name, options in zip(providers, each_options)]
    chosen = []
    for provider in providers:
        name, options = provider if isinstance(provider, (tuple, list)) else (provider, {})
        if str(name).lower() not in _NAMES:
            raise ValueError(f'no provider is called {name!r}; there are "cuda" ({CUDA}) and "cpu" ({CPU})')
        chosen.append((_NAMES[str(name).lower()], dict(options)))
    name, options = chosen[0]
    unknown = set(options) - ({"device_id"} if name == CUDA else set())
    if unknown:
        raise ValueError(f"{name} has no option {', '.join(sorted(map(repr, unknown)))}" + ('; it has "device_id"' if name == CUDA else ""))
    return name, options


def cuda_options(architecture: str | None, ordinal: int) -> list[str]:
    """Options of the onnxc command for a unit that runs here: on a GPU if there is one and nvcc, else in the emulator.

    architecture:  "sm80" or "sm90", alone or with the processor beside the GPU ("sm90+x86-64-v3"); None: what the GPU has, or "sm80"
    """
    capability = gpu_capability(ordinal)
    if architecture is None:
        architecture = "sm90" if capability and capability[0] >= 9 else "sm80"
    name = str(architecture).replace("sm_", "sm").removeprefix("cuda-")
    return [f"--target=cuda-{name}", f"--on={'gpu' if capability and has_nvcc() else 'emulator'}"]


def has_nvcc() -> bool:
    return bool(os.environ.get("NVCC") or shutil.which("nvcc") or os.access("/usr/local/cuda/bin/nvcc", os.X_OK))


@functools.lru_cache(maxsize=None)
def gpu_capability(ordinal: int = 0) -> tuple[int, int] | None:
    """(major, minor) of that GPU; None where CUDA's driver finds none."""
    try:
        driver = c.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, values = c.c_int(), [c.c_int(), c.c_int()]
    if driver.cuInit(0) or driver.cuDeviceGet(c.byref(device), int(ordinal)):
        return None
    for attribute, value in zip((75, 76), values):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        if driver.cuDeviceGetAttribute(c.byref(value), attribute, device):
            return None
    return values[0].value, values[1].value
