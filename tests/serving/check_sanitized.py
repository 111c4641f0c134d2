"""The server under sanitizers: the requests of check_protocol.py and many clients at once, on a program with the models inside.

    check_sanitized.py BUILD_FOLDER SANITIZERS     thread, or address,undefined
"""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import check_protocol
from client import Server
from load import Load

BUILD, SANITIZERS = Path(sys.argv[1]).resolve(), sys.argv[2]
SOURCE = Path(__file__).resolve().parent

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    check_protocol.make_models(folder / "models")
    flags = f"-O1 -g -fsanitize={SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer"
    configure = ["cmake", "-S", SOURCE / "program", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={BUILD}", f"-DMODELS={folder}/models", f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_BUILD_TYPE=None"]
    for step in configure, ["cmake", "--build", folder / "build", "--parallel", str(os.cpu_count())]:
        done = subprocess.run(list(map(str, step)), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    os.environ["TSAN_OPTIONS"] = "halt_on_error=1 exitcode=66"
    command = [folder / "build/tested_server", "--host", "127.0.0.1", "--workers", "3", "--io-threads", "3", *check_protocol.LIMITS[2:]]
    with Server(command) as server:
        check_protocol.check(server)
        assert server.end() == 0, server.events
    # Joined requests of many clients, which end in the middle of it.
    with Server([*command, "--batch", "8"]) as server:
        load = Load(server, 12, [10.0])
        time.sleep(5)
        assert server.end() == 0, server.events
        load.join()
        assert load.right > 50 and not load.wrong and set(load.statuses) == {200}, (load.statuses, load.faults[:3])
    print(f"the server with -fsanitize={SANITIZERS}: right, {load.right} requests of many clients")
