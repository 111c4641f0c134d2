"""What a program takes while it runs: time, and memory of two kinds."""
import os
import subprocess
import threading
import time
from dataclasses import dataclass


@dataclass
class Taken:
    status: int
    seconds: float
    resident: int  # the peak of the resident set: pages of mapped files count while they are mapped and in memory
    private: int  # the peak of memory that no file backs, sampled every few milliseconds
    output: str


def private_bytes(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            kib = {line.split(":")[0]: line.split()[1] for line in status if line.startswith(("RssAnon", "RssShmem"))}
    except OSError:
        return 0
    return 1024 * sum(int(k) for k in kib.values())


def run(command, **more):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    private = 0
    ended = threading.Event()

    def sample():
        nonlocal private
        while not ended.wait(0.005):
            private = max(private, private_bytes(process.pid))

    sampler = threading.Thread(target=sample)
    sampler.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    ended.set()
    sampler.join()
    return Taken(process.returncode, time.monotonic() - begin, usage.ru_maxrss * 1024, private, output)
