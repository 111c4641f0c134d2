"""`onnxc serve` beside FastAPI with ONNX Runtime: requests a second and latencies by wrk, on the same processors, in turns.

    measure.py ONNXC NAME=MODEL.onnx[:json]… [--seconds 5] [--rounds 3] [--connections 1,8,64] [--batch 32] [--json FILE]

Inputs are random; both servers must give the same outputs before anything is measured. Bodies are binary tensors, with `:json` after the file JSON.
The peer is measured with one process and with as many as there are processors, and the better one counts.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "serving"))
from client import Server, binary_request, read_binary, tensor  # noqa: E402

HERE = Path(__file__).resolve().parent
KINDS = {"tensor(float)": ("FP32", np.float32), "tensor(int64)": ("INT64", np.int64)}
SCRIPT = """
local file = io.open("%s", "rb")
wrk.method, wrk.body = "POST", file:read("*a")
file:close()
%s
done = function(summary, latency)
  io.write(string.format("figures %%d %%d %%f %%f %%d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout))
end
"""


def request_of(path, is_json):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    inputs = []
    for i in session.get_inputs():
        name, kind = KINDS[i.type]
        shape = [d if isinstance(d, int) else 1 for d in i.shape]
        inputs.append((i.name, name, random.uniform(-1, 1, shape).astype(kind)))
    if is_json:
        return json.dumps({"inputs": [tensor(*one) for one in inputs]}).encode(), {}
    return binary_request(inputs, everything=True)


def outputs_of(headers, content):
    """By name, whichever form they have."""
    size = headers["Inference-Header-Content-Length"]
    kinds = {o["name"]: dict(KINDS.values())[o["datatype"]] for o in json.loads(content[: int(size)] if size else content)["outputs"]}
    return {name: np.frombuffer(v, kinds[name]) if isinstance(v, bytes) else np.array(v, kinds[name]) for name, v in read_binary(headers, content).items()}


class Peer:
    """uvicorn with `processes`."""

    def __init__(self, models, batch, delay, processes, runs):
        self.port = 18_000 + processes
        environment = {**os.environ, "MODELS": ",".join(f"{n}={p}" for n, p in models), "BATCH": str(batch), "DELAY_US": str(delay), "RUNS": str(runs)}
        command = [sys.executable, "-m", "uvicorn", "fastapi_server:app", "--app-dir", str(HERE), "--port", str(self.port), "--log-level", "warning", "--workers", str(processes)]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if Server.ask(self, "GET", "/v2/health/ready")[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the peer does not start")

    connect = Server.connect

    def end(self):
        self.process.terminate()
        self.process.wait(30)


def measure(port, model, connections, seconds, script):
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s", "-s", script, f"http://127.0.0.1:{port}/v2/models/{model}/infer"], capture_output=True, text=True, check=True).stdout
    requests, duration, p50, p99, errors = map(float, re.search(r"figures (\S+) (\S+) (\S+) (\S+) (\S+)", out).groups())
    if errors:
        raise SystemExit(f"{errors:.0f} requests failed")
    return requests / duration * 1e6, p50 / 1000, p99 / 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("onnxc")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", default="1,8,64")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--delay", type=int, default=0)
    parser.add_argument("--json")
    a = parser.parse_args()
    rows = []
    processors = len(os.sched_getaffinity(0))
    for entry in a.models:
        name, _, path = entry.partition("=")
        is_json = path.endswith(":json")
        path = path.removesuffix(":json")
        body, headers = request_of(path, is_json)
        opens = not all(isinstance(i.shape[0], int) for i in ort.InferenceSession(path, providers=["CPUExecutionProvider"]).get_inputs())
        batch = a.batch if opens else 1
        ours = Server([a.onnxc, "serve", f"{name}={path}", "--batch", batch, "--batch-delay", a.delay, "--io-threads", processors])
        peers = {1: Peer([(name, path)], batch, a.delay, 1, processors), processors: Peer([(name, path)], batch, a.delay, processors, 1)}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "body").write_bytes(body)
            Path(folder, "post.lua").write_text(SCRIPT % (Path(folder, "body"), "".join(f'wrk.headers["{k}"] = "{v}"\n' for k, v in headers.items())))
            answers = []
            for server in ours, *peers.values():
                status, said, content = Server.ask(server, "POST", f"/v2/models/{name}/infer", body, headers)
                assert status == 200, content
                answers.append(outputs_of(said, content))
            for other in answers[1:]:
                for key, value in other.items():
                    assert np.allclose(answers[0][key], value, rtol=1e-3, atol=1e-4), (name, key)
            for connections in map(int, a.connections.split(",")):
                found = {server: [] for server in ("onnxc", *peers)}
                for _ in range(a.rounds):
                    found["onnxc"].append(measure(ours.port, name, connections, a.seconds, f"{folder}/post.lua"))
                    for processes, peer in peers.items():
                        found[processes].append(measure(peer.port, name, connections, a.seconds, f"{folder}/post.lua"))
                median = {k: [statistics.median(column) for column in zip(*v)] for k, v in found.items()}
                best = max(peers, key=lambda k: median[k][0])
                row = {"model": name, "form": "json" if is_json else "binary", "connections": connections, "ratio": median["onnxc"][0] / median[best][0], "onnxc": median["onnxc"], "peer": median[best], "peer_processes": best}
                rows.append(row)
                print(f"{name:16} {row['form']:6} {connections:3} connections  onnxc {median['onnxc'][0]:8.0f}/s p50 {median['onnxc'][1]:7.2f} p99 {median['onnxc'][2]:7.2f} ms   FastAPI and ONNX Runtime ({best} process) {median[best][0]:7.0f}/s p50 {median[best][1]:7.2f} p99 {median[best][2]:7.2f} ms   {row['ratio']:.1f} times", flush=True)
        ours.end()
        for peer in peers.values():
            peer.end()
    if a.json:
        Path(a.json).write_text(json.dumps(rows, indent=1))


main()
