"""What happens to a server: many clients, models that change, fail and go, limits that are reached, and its end.

    check_operation.py ONNXC
"""
import json
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import models
import numpy as np
from client import Server, tensor
from load import Load

ONNXC = sys.argv[1]
ROW = {"inputs": [tensor("x", "FP32", np.ones((1, 3), np.float32))]}


def metric(server, name):
    text = server.ask("GET", "/metrics")[2].decode()
    return float(re.search(r"^" + re.escape(name) + r" (\S+)$", text, re.M)[1])


def check_batches(folder):
    models.scaled(folder / "scaled/1/model.onnx", 2.0)
    with Server([ONNXC, "serve", f"scaled={folder}/scaled/1/model.onnx", "-O0", "--batch", "16", "--batch-delay", "20000", "--workers", "1"]) as server:
        load = Load(server, 8, [2.0])
        time.sleep(2)
        load.stop()
        assert load.right > 100 and not load.wrong and not load.faults and set(load.statuses) == {200}, (load.statuses, load.faults[:3])
        runs, rows = (metric(server, f'onnxc_batch_rows_{what}{{model="scaled",version="1"}}') for what in ("count", "sum"))
        assert rows / runs > 4, (runs, rows)
        assert server.end() == 0
    models.shared_sum(folder / "sum.onnx")
    with Server([ONNXC, "serve", folder / "sum.onnx", "-O0", "--batch", "8"], wait=False) as server:
        assert server.process.wait(60) == 3
        server.read()
        assert any("depends on the rows beside it" in str(event) for event in server.events), server.events
    with Server([ONNXC, "serve", folder / "sum.onnx", "-O0"]) as server:  # alone it is served
        assert server.infer("sum", ROW)[1]["outputs"][0]["data"] == [0, 0, 0]
    print("requests are joined, and those of models with dependent rows are not")


def check_changes(folder):
    repository = folder / "changing"
    model = repository / "scaled/1/model.onnx"
    models.scaled(model, 2.0)
    with Server([ONNXC, "serve", repository, "-O0", "--model-control"]) as server:
        load = Load(server, 3, [2.0, 3.0, 5.0])
        models.scaled(model, 3.0)
        server.process.send_signal(signal.SIGHUP)
        server.until("loaded", count=2)
        assert server.infer("scaled", ROW)[1]["outputs"][0]["data"] == [3, 3, 3]
        models.scaled(repository / "scaled/2/model.onnx", 5.0)
        status, _, answer = server.ask("POST", "/v2/repository/models/scaled/load")
        assert status == 200, answer
        assert server.infer("scaled", ROW)[1]["outputs"][0]["data"] == [5, 5, 5] and server.infer("scaled/versions/1", ROW)[1]["outputs"][0]["data"] == [3, 3, 3]
        # A model that fails to load leaves the one that serves.
        for broken in b"", b"not a model", model.read_bytes()[:-20]:
            (repository / "scaled/2/model.onnx").write_bytes(broken)
            status, _, answer = server.ask("POST", "/v2/repository/models/scaled/load")
            assert status == 400 and "scaled" in json.loads(answer)["error"], answer
            assert server.infer("scaled", ROW)[1]["outputs"][0]["data"] == [5, 5, 5]
        assert server.ask("POST", "/v2/repository/models/none/load")[0] == 400 and server.ask("POST", "/v2/repository/models/none/unload")[0] == 404
        (repository / "scaled/2/model.onnx").unlink()
        assert server.ask("POST", "/v2/repository/models/scaled/load")[0] == 200
        assert server.get("/v2/models/scaled")[1]["versions"] == ["1"]
        load.stop()
        assert load.right > 50 and not load.wrong and not load.faults and set(load.statuses) == {200}, (load.statuses, load.faults[:3])
        assert server.ask("POST", "/v2/repository/models/scaled/unload")[0] == 200 and server.infer("scaled", ROW)[0] == 404
        assert server.end() == 0
    with Server(["nohup", ONNXC, "serve", repository, "-O0", "--watch", "1"]) as server:
        models.scaled(repository / "other/1/model.onnx", 7.0)
        server.until("loaded", count=2)
        assert server.infer("other", ROW)[1]["outputs"][0]["data"] == [7, 7, 7]
        for _ in range(20):  # what waits is not queued twice
            server.process.send_signal(signal.SIGHUP)
        server.until("loaded", count=4)
        shutil.rmtree(repository / "other")
        (repository / "scaled/5").mkdir()
        os.symlink("model.onnx", repository / "scaled/5/model.onnx")  # a circle, which cannot be read
        server.until("unloaded")
        assert server.infer("other", ROW)[0] == 404 and server.infer("scaled", ROW)[0] == 200
        assert len([e for e in server.events if e["event"] == "loaded"]) <= 8
    for name, arguments in {"no file": ["none.onnx"], "no name": [f"a b={model}"], "twice": [model, f"1={model}"], "empty": [folder / "empty"], "a file that is no model": [__file__], "no port": [model, "--host", "nowhere"]}.items():
        (folder / "empty").mkdir(exist_ok=True)
        with Server([ONNXC, "serve", *arguments, "-O0"], wait=False) as server:
            assert server.process.wait(60) in (1, 2, 3), name
            server.read()
            assert server.events and "error" in str(server.events), (name, server.events)
    print("models are loaded anew, and what fails to load leaves what was there")


def check_limits(folder):
    models.slow(folder / "slow.onnx", 20_000)
    x = {"inputs": [tensor("x", "FP32", np.zeros((64, 64), np.float32))]}
    with Server([ONNXC, "serve", folder / "slow.onnx", "--workers", "1", "--max-queue", "2", "--request-timeout", "30", "--max-connections", "12"]) as server:
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(server.infer("slow", x)[0])) for _ in range(8)]
        for thread in threads:
            thread.start()
            time.sleep(0.02)
        begin = time.monotonic()
        assert server.get("/v2/health/live")[0] == 200 and time.monotonic() - begin < 1  # nobody waits behind a model
        for thread in threads:
            thread.join()
        assert sorted(set(answers)) == [200, 503] and answers.count(200) >= 3, answers
        # Connections beyond the limit are told so.
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(12)]
        time.sleep(0.2)
        assert server.get("/v2/health/live")[0] == 503
        refused = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(6)]
        for connection in idle:
            connection.close()
        time.sleep(0.2)
        assert server.get("/v2/health/live")[0] == 200  # those that were refused take no place
        for connection in refused:
            connection.close()
        large = []
        for _ in range(9):  # their bodies together are more than --max-bodies
            large.append(socket.create_connection(("127.0.0.1", server.port)))
            large[-1].sendall(b"POST /v2/models/slow/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 67108864\r\n\r\n")
        time.sleep(0.2)
        assert server.get("/v2/health/live")[0] == 200
        for connection in large:
            connection.close()
        end = time.monotonic() + 10
        while server.get("/v2/health/live")[0] != 200:
            assert time.monotonic() < end
            time.sleep(0.05)
        # A request under way is answered when the server ends, and so is one that waits.
        answers.clear()
        threads = [threading.Thread(target=lambda: answers.append(server.infer("slow", x)[0])) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        assert server.end() == 0
        for thread in threads:
            thread.join()
        assert answers == [200, 200], answers
    models.slow(folder / "slow.onnx", 400_000)
    with Server([ONNXC, "serve", folder / "slow.onnx", "--workers", "1", "--request-timeout", "1", "--drain-timeout", "1"]) as server:
        answers.clear()
        threads = [threading.Thread(target=lambda: answers.append(server.infer("slow", x)[0])) for _ in range(2)]
        for thread in threads:
            thread.start()
            time.sleep(0.1)
        for thread in threads:
            thread.join()
        assert sorted(answers) == [200, 504], answers  # the second has waited longer than it may
    with Server([ONNXC, "serve", folder / "slow.onnx", "--workers", "1", "--drain-timeout", "1"]) as server:
        answers.clear()

        def ask():
            try:
                answers.append(server.infer("slow", x)[0])
            except OSError:  # of the run under way, where that takes longer
                answers.append(0)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        assert server.end() == 1  # not all were answered: those that waited are told so
        for thread in threads:
            thread.join()
        assert answers.count(503) == 3 and set(answers) <= {0, 200, 503}, answers
    print("limits are kept, and tell of themselves")


def check_end(folder):
    models.scaled(folder / "scaled/1/model.onnx", 2.0)
    command = [ONNXC, "serve", f"scaled={folder}/scaled/1/model.onnx", "-O0", "--batch", "8", "--shutdown-delay", "1"]
    with Server(command) as server:
        load = Load(server, 8, [2.0])
        time.sleep(1)
        before = load.right
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert server.get("/v2/health/ready") == (503, {"ready": False}) and load.right > before  # still taken
        assert server.process.wait(30) == 0
        load.join()
        assert load.right > 50 and not load.wrong and not load.faults and set(load.statuses) == {200}, (load.statuses, load.faults[:3])
    with Server(command) as server:  # nobody is there: it ends at once but for the delay
        begin = time.monotonic()
        assert server.end(signal.SIGINT) == 0 and time.monotonic() - begin < 5
    print("the end loses no request")


with tempfile.TemporaryDirectory() as folder:
    for check in check_batches, check_changes, check_limits, check_end:
        (Path(folder) / check.__name__).mkdir()
        check(Path(folder) / check.__name__)
