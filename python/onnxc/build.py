"""From a model to a shared library, by the `onnxc` command; what was compiled once is kept.

A cached library is found again by content: the model, its external data, the options, the compiler and this machine's processor.
The cache is $ONNXC_CACHE/compiled (by default ~/.cache/onnxc/compiled); it may be deleted at any time. What was used longest ago goes where it
would take more than CACHE_LIMIT.
"""
from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import arguments as a

CACHE_LIMIT = 4 << 30  # bytes
NAMESPACE = "compiled"  # of every unit that is made here: it exports compiled_model()


class CompileError(RuntimeError):
    """The model cannot be compiled; the text is onnxc's. `exit_code`: 1 invalid or unsupported, 3 I/O, 4 over a budget, 70 a bug."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def find_executable() -> str:
    """$ONNXC_EXECUTABLE, else the one inside of this package, else `onnxc` in PATH, else build/onnxc of the source tree that this package lies in."""
    given = os.environ.get("ONNXC_EXECUTABLE")
    if given:
        return given
    own = Path(__file__).resolve().parent / "bin" / "onnxc"
    if own.is_file():
        return str(own)
    found = shutil.which("onnxc")
    if found:
        return found
    built = Path(__file__).resolve().parents[2] / "build" / "onnxc"
    if built.is_file():
        return str(built)
    raise FileNotFoundError("no onnxc executable: set ONNXC_EXECUTABLE, put onnxc into PATH, or build the source tree (build/onnxc)")


def warn_without_compiler() -> None:
    """Says which package has a C++ compiler, where there is none: models cannot be compiled without."""
    command = _compiler_command()
    if shutil.which((command.split() or [""])[0]):
        return
    try:
        release = Path("/etc/os-release").read_text()
    except OSError:
        release = ""
    systems = set(re.findall(r"[\w-]+", " ".join(re.findall(r"^ID(?:_LIKE)?=(.*)$", release, re.M))))
    installers = {"debian": "apt-get install g++", "fedora": "dnf install gcc-c++", "rhel": "dnf install gcc-c++", "suse": "zypper install gcc-c++", "arch": "pacman -S gcc", "alpine": "apk add g++"}
    advice = next((f"`{install}`, as root" for system, install in installers.items() if system in systems), "g++ 12 or clang 14, or newer")
    warnings.warn(f"onnxc found no C++ compiler ({command}), which it compiles models with: install one ({advice}), or name it in ONNXC_CXX", RuntimeWarning, stacklevel=3)


def compile(model: a.Model, output: a.Path | None = None, *, dims: a.Dims | None = None, threads: int = 1, custom_ops: Mapping[str, str] | None = None,
            include_dirs: Sequence[a.Path] = (), options: a.Options = (), namespace: str = NAMESPACE) -> str:
    """Compiles a model to a shared library and returns its path.

    model:         a path, the bytes of a model, or an onnx.ModelProto
    output:        where to put the library; by default it goes into the cache
    dims:          dynamic dimensions to fix or bound: {"batch": 8, "sequence": (1, 512)}
    custom_ops:    operators that you write in C++: {"my.domain.Foo": "foo.hpp:my::foo, y0 = x0"}; see docs/custom-operators.md
    include_dirs:  where their headers are, before the working directory
    options:       any of onnxc's options, for example ["-O3", "--weights=asm"]; what exceeds --max-arena, --max-weights or --max-code raises CompileError, exit code 4
    """
    arguments = ["--emit=shared", "--namespace", namespace, "--threads", str(threads)]
    for name, extent in (dims or {}).items():
        low_high = f"{extent[0]}..{extent[1]}" if isinstance(extent, (tuple, list)) else str(int(extent))
        arguments += ["--dim", f"{name}={low_high}"]
    for name, spec in (custom_ops or {}).items():
        arguments += ["--custom-op", f"{name}={spec}"]
    if custom_ops:
        for folder in [*include_dirs, os.curdir]:
            arguments += ["-I", os.path.abspath(folder)]
    arguments += [str(option) for option in options]

    path, content = None, b""
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
    else:
        content = bytes(model) if isinstance(model, (bytes, bytearray)) else model.SerializeToString()
    executable = find_executable()
    if output is not None:
        _run(executable, path, content, Path(output), arguments)
        return str(output)

    entry = _cache_folder() / _key(executable, path, content, arguments)
    if library := _cached(entry, path):
        return library
    entry.mkdir(parents=True, exist_ok=True)
    with open(entry / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # threads and processes that want the same library wait for it; whoever ends unlocks
        return _cached(entry, path) or _build_into(entry, executable, path, content, arguments)


def _cached(entry: Path, path: Path | None) -> str | None:
    """The library of this model and these external data, where there is one."""
    names = _read_names(entry)
    library = entry / f"{_digest_of_files(path, names)}.so" if names is not None else None
    if library is None or not library.exists():
        return None
    os.utime(library)
    return str(library)


def _build_into(entry: Path, executable: str, path: Path | None, content: bytes, arguments: list[str]) -> str:
    with tempfile.TemporaryDirectory(dir=entry) as work:
        made = Path(work) / "unit.so"
        external_names = _run(executable, path, content, made, arguments)
        library = entry / f"{_digest_of_files(path, external_names)}.so"
        names = Path(work) / "external.json"
        names.write_text(json.dumps(external_names))
        os.replace(made, library)  # whole or not at all, also when two processes do the same
        os.replace(names, entry / "external.json")
    _prune(_cache_folder(), CACHE_LIMIT)
    return str(library)


def _run(executable: str, path: Path | None, content: bytes, output: Path, arguments: list[str]) -> list[str]:
    """Compiles; returns the names of the other files that it read: external data relative to the model's folder, headers as absolute paths."""
    with tempfile.TemporaryDirectory() as work:
        if path is None:
            path = Path(work) / "model.onnx"
            path.write_bytes(content)
        depfile = Path(work) / "unit.d"
        command = [executable, str(path), "-o", str(output), "--depfile", str(depfile), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise CompileError(done.stderr.strip() or f"{executable}: exit status {done.returncode}", done.returncode)
        folder = path.resolve().parent
        files = [Path(file) for file in _read_depfile(depfile)]
        others = {file.resolve() for file in files} - {path.resolve()}
        return sorted(str(file.relative_to(folder) if file.is_relative_to(folder) else file) for file in others)


def _read_depfile(depfile: Path) -> list[str]:
    """The prerequisites in a make rule: words between blanks; a backslash keeps a blank, `$$` is a dollar."""
    if not depfile.exists():
        return []
    text = depfile.read_text().replace("\\\n", " ").replace("\\ ", "\0").replace("\\#", "#").replace("$$", "$")
    return [word.replace("\0", " ") for word in text.split(": ", 1)[-1].split()]


def _cache_folder() -> Path:
    cache = os.environ.get("ONNXC_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "onnxc")
    return Path(cache) / "compiled"


def _prune(folder: Path, limit: int) -> None:
    """Removes what was used longest ago while the libraries take more than `limit` bytes. A library in use stays loaded without its file."""
    files = []
    for library in folder.glob("*/*.so"):
        try:
            stat = library.stat()
        except FileNotFoundError:  # another process prunes, too
            continue
        files.append((stat.st_mtime_ns, stat.st_size, library))
    total = sum(size for _, size, _ in files)
    for _, size, library in sorted(files):
        if total <= limit:
            break
        library.unlink(missing_ok=True)
        total -= size


def _key(executable: str, path: Path | None, content: bytes, arguments: list[str]) -> str:
    digest = hashlib.sha256()
    if path is not None:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    else:
        digest.update(content)
    digest.update(json.dumps([arguments, _system_compiler(), _processor(), _compiler_identity(executable)]).encode())
    return digest.hexdigest()[:32]


def _compiler_identity(command: str) -> list[str | int]:
    """Changes whenever the compiler or the headers that it includes change."""
    executable = Path(command).resolve()
    stat = executable.stat()
    identity: list[str | int] = [str(executable), stat.st_size, stat.st_mtime_ns]
    for headers in (executable.parent.parent / "include" / "onnxc", executable.parent.parent / "runtime_stub" / "onnxc"):
        for header in sorted(headers.rglob("*.h*")):
            identity += [str(header), header.stat().st_mtime_ns]
    return identity


def _system_compiler() -> list[str]:
    """What builds the library, as tools/driver/build_library.h has it, and its version."""
    command = _compiler_command()
    return [command, _version_of(command)]


def _compiler_command() -> str:
    return os.environ.get("ONNXC_CXX") or os.environ.get("CXX") or "c++"


@functools.lru_cache(maxsize=None)
def _version_of(command: str) -> str:
    try:
        return subprocess.run([*command.split(), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace").stdout
    except OSError:  # onnxc will say so
        return ""


@functools.lru_cache(maxsize=None)
def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next((line for line in file if line.startswith(("flags", "Features"))), platform.machine())
    except OSError:
        return platform.machine()


def _read_names(entry: Path) -> list[str] | None:
    try:
        names: list[str] = json.loads((entry / "external.json").read_text())
        return names
    except (OSError, ValueError):
        return None


def _digest_of_files(path: Path | None, names: list[str]) -> str:
    folder = Path(path).resolve().parent if path is not None else Path("/")
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0")
        try:
            with open(folder / name, "rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    digest.update(block)
        except OSError:
            digest.update(b"absent")
    return digest.hexdigest()[:16]
