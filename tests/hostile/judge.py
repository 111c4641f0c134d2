"""Runs onnxc on files of strangers and says what is wrong with how it ended."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading
from dataclasses import dataclass

SECONDS = 2            # of processor time
MEBIBYTES = 512        # of memory
LIMIT_MEBIBYTES = 3072  # where a run is stopped, so that it does not take the machine down
SANITIZED_FACTOR = 4   # what a build with sanitizers may take more


@dataclass
class Ended:
    fault: str         # what is wrong, or nothing
    status: int        # exit status, or minus a signal
    said: str          # on standard error
    seconds: float
    mebibytes: float


def warm_up():
    """A model that a server's first run compiles."""
    from onnx import TensorProto, helper

    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    return helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", value[:1], value[1:]), opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


def built_server(folder):
    """server.c as a library, or None where it cannot be built."""
    library = pathlib.Path(folder) / "server.so"
    compiler = os.environ.get("CC") or "cc"
    try:
        done = subprocess.run([compiler, "-O1", "-shared", "-fPIC", str(pathlib.Path(__file__).with_name("server.c")), "-o", str(library), "-ldl"], capture_output=True)
    except OSError:
        return None
    return library if not done.returncode else None


class Runner:
    """One process after another in a folder of its own. With a `server` (built_server) they are forks of one that has started already, which takes a quarter of the time;
    sanitizers want to be loaded before it, so their builds go without."""

    def __init__(self, binary, folder, sanitized=False, server=None):
        self.binary, self.folder, self.sanitized = str(binary), pathlib.Path(folder), sanitized
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model, self.errors = self.folder / "form.onnx", self.folder / "errors"
        self.environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:allocator_may_return_null=1:hard_rss_limit_mb=2048", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=0"}
        self.environment.pop("COLUMNS", None)
        self.factor = SANITIZED_FACTOR if sanitized else 1
        self.served = None
        if server and not sanitized:
            first = self.folder / "first.onnx"
            first.write_bytes(warm_up())
            self.served = subprocess.Popen([self.binary, str(first), "-o", str(self.folder / "first.cpp")], env={**self.environment, "LD_PRELOAD": str(server)},
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run(self, data, options=()):
        """Of the serialized model."""
        self.model.write_bytes(data)
        return self.run_file(self.model, options)

    def run_file(self, model, options=()):
        """Of a model where it lies."""
        for path in self.folder.glob("unit*"):
            path.unlink()
        self.errors.unlink(missing_ok=True)
        arguments = [str(model), "-o", str(self.folder / "unit.cpp"), *options]
        status, spent, mebibytes = (self.serve if self.served else self.spawn)(arguments)
        said = self.errors.read_bytes()[:20000].decode(errors="replace").strip() if self.errors.exists() else ""
        code = os.waitstatus_to_exitcode(status)
        return Ended(self.fault_of(model, code, said, spent / self.factor, mebibytes / self.factor), code, said, spent, mebibytes)

    def serve(self, arguments):
        self.served.stdin.write("\t".join([str(self.errors), str(SECONDS), str(LIMIT_MEBIBYTES), *arguments]) + "\n")
        self.served.stdin.flush()
        status, microseconds, kibibytes = map(int, self.served.stdout.readline().split())
        return status, microseconds / 1e6, kibibytes / 1024

    def spawn(self, arguments):
        out = os.open(self.errors, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        pid = os.posix_spawn(self.binary, [self.binary, *arguments], self.environment,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)])
        os.close(out)
        seconds = int(SECONDS * self.factor)
        try:
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds + 1, seconds + 2))
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
            if not self.sanitized:
                resource.prlimit(pid, resource.RLIMIT_AS, (LIMIT_MEBIBYTES << 20, LIMIT_MEBIBYTES << 20))
        except ProcessLookupError:  # it has ended
            pass
        watch = threading.Timer(45 * self.factor, lambda: os.kill(pid, signal.SIGKILL))  # it may wait instead of computing
        watch.start()
        _, status, usage = os.wait4(pid, 0)
        watch.cancel()
        return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def fault_of(self, model, code, said, seconds, mebibytes):
        if "Sanitizer" in said or "runtime error: " in said:
            found = re.search(r"(runtime error: .*|(?:Address|UndefinedBehavior|Leak)Sanitizer[^\n]*)", said)
            return "sanitizer: " + (found.group(1) if found else said[:200])
        if seconds > SECONDS or code in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM):
            return f"time: more than {SECONDS} s"
        if code < 0:
            return "signal: " + signal.Signals(-code).name
        if mebibytes > MEBIBYTES or "out of memory" in said or "bad_alloc" in said:
            return f"memory: more than {MEBIBYTES} MB"
        if code == 70:
            return "internal error"
        if code not in (0, 1, 4):
            return f"exit status {code}"
        lines = said.splitlines()
        if code:
            if len(lines) != 1:
                return f"message: {'no' if not lines else 'several'} lines"
            if not re.match(r"onnxc: error\[E\d{4}\]: ", lines[0]):
                return "message: does not begin with onnxc: error[CODE]:"
            if not re.sub(rf"^onnxc: error\[E\d{{4}}\]: \S*{re.escape(model.name)}:?", "", lines[0]).strip():
                return "message: says nothing"
        return ""
