"""A server in a process, and the protocol by the standard library: nothing here knows what onnxc does with a request."""
import http.client
import json
import os
import signal
import struct
import subprocess
import time

import numpy as np


class Server:
    """Starts COMMAND and reads its log until it is ready."""

    def __init__(self, command, wait=True):
        self.process = subprocess.Popen([*map(str, command), "--port", "0"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.events = []
        self.port = None
        os.set_blocking(self.process.stderr.fileno(), False)
        self._rest = b""
        if wait:
            self.port = self.until("ready")["port"]

    def read(self):
        lines = (self._rest + (self.process.stderr.read() or b"")).split(b"\n")
        self._rest = lines.pop()
        self.events += [json.loads(line) if line.startswith(b"{") else {"event": "text", "text": line.decode(errors="replace")} for line in lines]

    def until(self, event, seconds=120, count=1):
        """The event of that name, once there are `count`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            found = [e for e in self.events if e["event"] == event]
            if len(found) >= count:
                return found[count - 1]
            if self.process.poll() is not None:
                self.read()
                raise AssertionError(f"the server ended with {self.process.returncode}: {self.events[-3:]}")
            time.sleep(0.01)
        raise AssertionError(f"no event '{event}' within {seconds} s: {self.events[-3:]}")

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """Status, headers and body of one request on a connection of its own."""
        connection = self.connect()
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path):
        status, _, body = self.ask("GET", path)
        return status, json.loads(body)

    def infer(self, model, request, headers=None):
        status, _, body = self.ask("POST", f"/v2/models/{model}/infer", request if isinstance(request, (bytes, str)) else json.dumps(request), headers)
        return status, json.loads(body)

    def peak_memory(self):
        """Bytes, since it began."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024

    def end(self, signal_=signal.SIGTERM, seconds=60):
        """The exit status."""
        self.process.send_signal(signal_)
        return self.process.wait(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


def tensor(name, datatype, array):
    return {"name": name, "datatype": datatype, "shape": list(np.shape(array)), "data": np.asarray(array).tolist()}


def binary(array):
    """Elements as the binary extension has them."""
    if array.dtype == np.object_:
        return b"".join(struct.pack("<I", len(x)) + x for x in array.ravel())
    return np.ascontiguousarray(array).tobytes()


def binary_request(tensors, outputs=None, everything=False):
    """Body and headers: `tensors` as (name, datatype, array)."""
    blobs = [binary(array) for _, _, array in tensors]
    head = {"inputs": [{"name": n, "datatype": d, "shape": list(a.shape), "parameters": {"binary_data_size": len(b)}} for (n, d, a), b in zip(tensors, blobs)]}
    if outputs is not None:
        head["outputs"] = outputs
    if everything:
        head["parameters"] = {"binary_data_output": True}
    text = json.dumps(head).encode()
    return text + b"".join(blobs), {"Inference-Header-Content-Length": str(len(text)), "Content-Type": "application/octet-stream"}


def read_binary(headers, body):
    """Outputs by their names: bytes where they are binary, else lists."""
    size = headers["Inference-Header-Content-Length"]
    head = json.loads(body[: int(size)] if size else body)
    at = int(size) if size else len(body)
    result = {}
    for output in head["outputs"]:
        length = output.get("parameters", {}).get("binary_data_size")
        if length is None:
            result[output["name"]] = output["data"]
        else:
            result[output["name"]] = body[at : at + length]
            at += length
    assert at == len(body), "bytes that belong to no output"
    return result
