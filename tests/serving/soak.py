"""Minutes of load with a reload every ten seconds and SIGTERM at the end: no request is lost or wrong.

    soak.py ONNXC [MINUTES]
"""
import signal
import sys
import tempfile
import time
from pathlib import Path

import models
from client import Server
from load import Load

ONNXC, MINUTES = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 10

with tempfile.TemporaryDirectory() as name:
    repository = Path(name)
    model = repository / "scaled/1/model.onnx"
    factor = 2.0
    models.scaled(model, factor)
    with Server([ONNXC, "serve", repository, "-O0", "--batch", "16", "--batch-delay", "1000", "--shutdown-delay", "1"]) as server:
        load = Load(server, 16, [2.0, 3.0], pause=0)
        end = time.monotonic() + 60 * MINUTES
        reloads = 0
        memory = []
        while time.monotonic() < end:
            time.sleep(10)
            factor = 5.0 - factor
            models.scaled(model, factor)
            server.process.send_signal(signal.SIGHUP)
            reloads += 1
            server.until("loaded", count=reloads + 1)
            memory.append(int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * 4096 / 1e6)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
        load.join()
        assert load.right > 100 * MINUTES and not load.wrong and not load.faults and set(load.statuses) == {200}, (load.right, load.wrong, load.statuses, load.faults[:3])
        assert memory[-1] < 1.5 * memory[min(2, len(memory) - 1)] + 20, memory
        print(f"{load.right} requests in {MINUTES:g} minutes with {reloads} reloads: none lost, none wrong; resident memory {memory[0]:.0f} MB, at the end {memory[-1]:.0f} MB")
