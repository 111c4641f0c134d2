"""A compiled model that travels: to other processes by pickle, to other machines by what moves pickles there.

    library = onnxc.Library("model.onnx", target="x86-64-v3")     # compiles here, once
    session = library.session()                                   # where it arrives: no compiler, no onnx; nothing is compiled
"""
from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import arguments as a
from . import build, processor
from .session import InferenceSession, Slot

class Column(NamedTuple):
    """An input or output: the name, ONNX's element type, the extents (negative ones are open), and abi.TENSOR or another kind."""

    name: str
    type_name: str | None
    dims: tuple[int, ...]
    kind: int


class ProcessorError(RuntimeError):
    """This processor cannot run the unit."""


class Library:
    """A model's compiled unit, with what tells where it runs.

    model:                         what onnxc.compile takes: a path, bytes, an onnx.ModelProto
    target:                        the processors that will run it, such as "x86-64-v3"; by default those like this one. `onnxc --help` has the list.
    dims, custom_ops, include_dirs, options: as for onnxc.compile. ZipMap gives a tensor.

    CompileError: the model cannot be compiled. ValueError: no such target, or maps and states, which have no place in a table.
    """

    def __init__(self, model: a.Model, target: str = "native", *, dims: a.Dims | None = None, custom_ops: Mapping[str, str] | None = None,
                 include_dirs: Sequence[a.Path] = (), options: Sequence[str] = ()) -> None:
        if target != "native" and target not in processor.TARGETS:
            raise ValueError(f"no unit for {target!r} can be loaded by another process; there are native, {', '.join(processor.TARGETS)}")
        if any(option.startswith(("--target", "--zipmap=map", "--state")) for option in options):
            raise ValueError("--target is the argument target; maps and states have no place in a table")
        options = ["--zipmap=tensor", *(option for option in options if option != "--zipmap=tensor")]
        how: dict[str, Any] = {"dims": dims, "custom_ops": custom_ops, "include_dirs": include_dirs}
        path = build.compile(model, **how, options=[*options, f"--target={target}"])
        self.target = target
        self.content = Path(path).read_bytes()
        self.digest = hashlib.sha256(self.content).hexdigest()
        self.machine = processor.machine_of(self.content)
        self.needs = processor.needed(target)
        if self.machine != processor.this_machine():  # what can only be looked at, never loaded: another unit of the same model tells its interface
            path = build.compile(model, **how, options=[*(option for option in options if not option.startswith("-O")), "-O0"])
        session = InferenceSession(path)
        self.name = session.name
        self.inputs, self.outputs = [_describe(s) for s in session._inputs], [_describe(s) for s in session._outputs]
        self.symbols = session._symbols

    def check(self) -> None:
        """Raises ProcessorError where this processor cannot run the unit."""
        if lack := processor.lacking(self.machine, self.needs):
            made_for = "the processor that it was compiled on" if self.target == "native" else self.target
            raise ProcessorError(f"{self.name} was compiled for {made_for}, and the processor of {os.uname().nodename} {lack}; name a target that all workers "
                                 'have when you compile: Library(model, target="x86-64-v3")')

    def session(self) -> InferenceSession:
        """The session of this process, the same at each call. It may be used by several threads."""
        with _lock:
            if self.digest not in _sessions:
                self.check()
                _sessions[self.digest] = InferenceSession(str(self.file()))
            return _sessions[self.digest]

    def file(self) -> Path:
        """The unit as a file of this machine, which all processes of this user share. Whoever comes first writes it."""
        path = _folder(self.digest) / f"{self.digest}.so"
        if not _holds(path, self.content):
            with tempfile.TemporaryDirectory(dir=path.parent) as work:
                written = Path(work) / "unit.so"
                written.write_bytes(self.content)
                os.replace(written, path)  # whole or not at all, also when several processes do the same; who maps an older file keeps it
            build._prune(build._cache_folder(), build.CACHE_LIMIT)
        os.utime(path)
        return path


_sessions: dict[str, InferenceSession] = {}
_lock = threading.Lock()


def _describe(slot: Slot) -> Column:
    return Column(slot.name, slot.type_name, tuple(slot.dims), slot.kind)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def _folder(digest: str) -> Path:
    """Where files of this user lie: beside what is compiled here, else, where that cannot be written, in a folder of this process."""
    global _temporary
    folder = build._cache_folder() / digest[:32]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        _temporary = _temporary or tempfile.TemporaryDirectory(prefix="onnxc-")
        return Path(_temporary.name)


_temporary: tempfile.TemporaryDirectory[str] | None = None
