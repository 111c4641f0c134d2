"""What the server answers: right results in every form, and the protocol's errors for what is wrong.

    check_protocol.py ONNXC
"""
import json
import socket
import sys
import tempfile
import time
from pathlib import Path

import models
import numpy as np
from client import Server, binary_request, read_binary, tensor


def check_descriptions(server):
    assert server.get("/v2")[1]["name"] == "onnxc" and "binary_tensor_data" in server.get("/v2")[1]["extensions"]
    assert server.get("/v2/health/live") == (200, {"live": True}) and server.get("/v2/health/ready") == (200, {"ready": True})
    status, metadata = server.get("/v2/models/scaled")
    assert status == 200 and metadata["versions"] == ["1", "3", "10"]
    assert metadata["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}] and metadata["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [-1, 3]}]
    assert server.get("/v2/models/scaled/versions/3/ready") == (200, {"name": "scaled", "ready": True})
    for path in "/v2/models/none", "/v2/models/scaled/versions/4", "/v2/models/none/ready", "/v2/other", "/", "/v2/models/scaled/other", "/v2/models/%zz":
        status, answer = server.get(path)
        assert status in (400, 404) and answer["error"], path
    assert server.ask("POST", "/v2/health/live")[0] == 405 and server.ask("GET", "/v2/models/scaled/infer")[0] == 405
    status, _, body = server.ask("POST", "/v2/repository/index")
    assert status == 200 and {(m["name"], m["version"]) for m in json.loads(body)} >= {("scaled", "10"), ("types", "1")}
    assert server.ask("POST", "/v2/repository/models/scaled/load")[0] == 403  # nobody allowed it


def check_results(server):
    x = np.array([[1, 2, 3], [4, 5, 6.5]], np.float32)
    # The highest version; numbers, not letters, are compared.
    for version, factor in (("", 10), ("/versions/3", 3), ("/versions/1", 1)):
        status, answer = server.infer(f"scaled{version}", {"id": "r-1", "inputs": [tensor("x", "FP32", x)]})
        assert status == 200 and answer["id"] == "r-1" and answer["model_version"] == (version[10:] or "10"), answer
        assert answer["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [2, 3], "data": (x * factor).ravel().tolist()}]
    flat = {"inputs": [{"data": x.ravel().tolist(), "datatype": "FP32", "shape": [2, 3], "name": "x"}]}  # members in any order, elements in one row
    assert server.infer("scaled", flat)[1]["outputs"][0]["data"] == (x * 10).ravel().tolist()
    empty = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [0, 3], "data": []}]}
    assert server.infer("scaled", empty)[1]["outputs"][0] == {"name": "y", "datatype": "FP32", "shape": [0, 3], "data": []}


def values(name, kind):
    if name == "BYTES":
        return np.array([b"", "a\u00e4\u4e2d\U0001f600\"\\\n".encode(), b"c" * 300], np.object_)
    if name == "BOOL":
        return np.array([True, False, True])
    if name.startswith("FP"):
        return np.array([0.1, -1.5, np.finfo(kind).max], kind)
    return np.array([np.iinfo(kind).min, 7, np.iinfo(kind).max], kind)


def check_types(server):
    every = {name: values(name, kind) for name, (_, kind) in models.TYPES.items()}
    # All in binary, and back in binary.
    body, headers = binary_request([(f"in_{name}", name, array) for name, array in every.items()], everything=True)
    status, said, answer = server.ask("POST", "/v2/models/types/infer", body, headers)
    assert status == 200, answer
    found = read_binary(said, answer)
    for name, array in every.items():
        expected = b"".join(len(x).to_bytes(4, "little") + x for x in array) if name == "BYTES" else array.tobytes()
        assert found[f"out_{name}"] == expected, name
    # JSON where it has the type, to the last digit.
    half = "FP16"
    inputs = [tensor(f"in_{name}", name, [x.decode() for x in array] if name == "BYTES" else array) for name, array in every.items() if name != half]
    assert server.infer("types", {"inputs": [*inputs, tensor("in_FP16", half, every[half])]})[0] == 400  # JSON has none
    blob = every[half].tobytes()
    head = json.dumps({"inputs": [*inputs, {"name": "in_FP16", "datatype": half, "shape": [3], "parameters": {"binary_data_size": len(blob)}}], "outputs": [{"name": f"out_{n}", "parameters": {"binary_data": n == half}} for n in every]}).encode()
    status, said, answer = server.ask("POST", "/v2/models/types/infer", head + blob, {"Inference-Header-Content-Length": str(len(head))})
    assert status == 200, answer
    found = read_binary(said, answer)
    for name, array in every.items():
        if name == half:
            assert found["out_FP16"] == blob
        elif name == "BYTES":
            assert [x.encode() for x in found["out_BYTES"]] == array.tolist()
        else:
            assert np.array_equal(np.array(found[f"out_{name}"], array.dtype), array), name
    assert found["out_INT64"] == [-(2**63), 7, 2**63 - 1] and found["out_UINT64"][2] == 2**64 - 1
    # Bytes that are no UTF-8 are refused in JSON, and only there.
    broken = [(f"in_{n}", n, np.array([b"\xff", b"\xc0\x80", b"\xed\xa0\x80"], np.object_) if n == "BYTES" else a) for n, a in every.items()]
    body, headers = binary_request(broken, outputs=[{"name": "out_BYTES"}])
    assert server.ask("POST", "/v2/models/types/infer", body, headers)[0] == 400
    body, headers = binary_request(broken, outputs=[{"name": "out_BYTES", "parameters": {"binary_data": True}}])
    status, said, answer = server.ask("POST", "/v2/models/types/infer", body, headers)
    assert status == 200 and b"\xed\xa0\x80" in answer


def check_numbers(server):
    def one(text, datatype="FP32", model="scaled/versions/1"):
        return server.infer(model, '{"inputs":[{"name":"x","datatype":"%s","shape":[1,3],"data":[%s,0,0]}]}' % (datatype, text))

    for text in "0.1", "1e-7", "123456789.123456789", "1.17549435e-38", "3.4028234e38", "9007199254740993", "2.2250738585072011e-308", "1e-400", "-0.0":
        status, answer = one(text)
        assert status == 200 and np.float32(answer["outputs"][0]["data"][0]) == np.float32(float(text)), (text, answer)
    for text in "1e39", "1e999", "NaN", "Infinity", "null", '"1"', "true", "01", "1.", "+1", "{}":
        assert one(text)[0] == 400, text
    for text, good in ("3", True), ("3.0", True), ("3e0", True), ("3.5", False), ("9223372036854775808", False), ("1e30", False), ("-1", True):
        status, _ = server.infer("pick", '{"inputs":[{"name":"index","datatype":"INT64","shape":[1],"data":[%s]}]}' % text)
        assert (status == 200) == (good and text == "-1"), text  # 3 is out of range: the run says so, and the server lives
    status, answer = server.infer("pick", {"inputs": [tensor("index", "INT64", [2, 3])]})
    assert status == 400 and "out of range" in answer["error"], answer
    assert server.infer("pick", {"inputs": [tensor("index", "INT64", [2, 0])]})[1]["outputs"][0]["data"] == [30.0, 10.0]


def check_bad_requests(server):
    good = tensor("x", "FP32", np.ones((1, 3), np.float32))
    big = {"name": "x", "datatype": "FP32", "shape": [2**40, 3], "data": [1, 2, 3]}
    bad = [
        "", "{", "[]", "1", "null", '"text"', "{}{}", '{"inputs":}', '{"inputs":{}}', '{"inputs":[[]]}', '{"inputs":[1]}', '{"inputs":[{}]}', "[" * 100_000, '{"a":' * 100_000, b"\xff\xfe", b"\x00" * 100,
        {"inputs": []}, {"inputs": [good, good]}, {"inputs": [{**good, "name": "z"}]}, {"inputs": [good, {**good, "name": "z"}]}, {"inputs": [{**good, "datatype": "FP64"}]},
        {"inputs": [{**good, "datatype": "FLOAT"}]}, {"inputs": [{**good, "datatype": 1}]}, {"inputs": [{**good, "shape": [3]}]}, {"inputs": [{**good, "shape": [1, 4]}]}, {"inputs": [{**good, "shape": [2, 3]}]},
        {"inputs": [{**good, "shape": [-1, 3]}]}, {"inputs": [{**good, "shape": [1.5, 3]}]}, {"inputs": [{**good, "shape": "1,3"}]}, {"inputs": [{**good, "shape": [[1, 3]]}]}, {"inputs": [{**good, "shape": [1] * 1000}]},
        {"inputs": [{**good, "shape": [2**62, 2**62]}]}, {"inputs": [big]}, {"inputs": [{**good, "data": [1, 2, 3, 4]}]}, {"inputs": [{**good, "data": [[1, 2, 3], {}]}]}, {"inputs": [{**good, "data": "abc"}]},
        {"inputs": [{k: v for k, v in good.items() if k != "data"}]}, {"inputs": [{k: v for k, v in good.items() if k != "shape"}]}, {"inputs": [{k: v for k, v in good.items() if k != "datatype"}]},
        {"inputs": [{**good, "parameters": {"binary_data_size": 12}}]}, {"inputs": [{**good, "parameters": {"shared_memory_region": "a"}}]},
        {"inputs": [good], "outputs": [{"name": "none"}]}, {"inputs": [good], "outputs": [{"name": "y", "parameters": {"classification": 3}}]}, {"inputs": [good], "outputs": [1]}, {"inputs": [good], "outputs": {}},
        {"inputs": [good], "outputs": [{"name": "y"}, {"name": "y"}]}, '{"inputs":[' + "{}," * 200_000 + "{}]}",
    ]
    for request in bad:
        status, answer = server.infer("scaled", request)
        assert status == 400 and answer["error"], (str(request)[:200], status, answer)
    body, headers = binary_request([("x", "FP32", np.ones((1, 3), np.float32))])
    for change in ({"Inference-Header-Content-Length": "-1"}, {"Inference-Header-Content-Length": "99999"}, {"Inference-Header-Content-Length": "5"}, {"Inference-Header-Content-Length": "x"}, {"Content-Encoding": "gzip"}):
        status, answer = server.infer("scaled", body, {**headers, **change})
        assert status in (400, 415), (change, answer)
    assert server.infer("scaled", body[:-1], headers)[0] == 400 and server.infer("scaled", body + b"x", headers)[0] == 400
    body, headers = binary_request([("in_BYTES", "BYTES", np.array([b"abc"], np.object_))])
    for cut in 1, 3, 5:
        assert server.infer("types", body[:-cut], headers)[0] == 400
    # A small request whose run would take more memory than it may.
    status, answer = server.infer("square", {"inputs": [tensor("x", "FP32", np.zeros((1, 100_000), np.float32))]})
    assert status == 413, answer
    assert server.infer("square", {"inputs": [tensor("x", "FP32", np.array([[1, 2]], np.float32))]})[1]["outputs"][0]["data"] == [1, 2, 2, 4]
    status, answer = server.infer("count", {"inputs": [{"name": "n", "datatype": "INT64", "shape": [], "data": [30_000_000]}]})
    assert status == 413, answer
    assert server.infer("count", {"inputs": [{"name": "n", "datatype": "INT64", "shape": [], "data": [3]}]})[1]["outputs"][0] == {"name": "y", "datatype": "INT64", "shape": [3], "data": [0, 1, 2]}


def raw(server, data, keep=False):
    """What the server answers to these bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(data)
        if not keep:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while True:
            try:
                part = connection.recv(65536)
            except ConnectionResetError:
                break
            if not part:
                return answer
            answer += part
        return answer


def check_http(server):
    def status(data, **options):
        return raw(server, data, **options)[9:12]

    head = b"POST /v2/models/scaled/infer HTTP/1.1\r\nHost: a\r\n"
    for garbage in b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 50 + b"\x00", head + b"Content-Length: -5\r\n\r\n", head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"A" * 100_000:
        assert status(garbage) in (b"400", b"431", b""), (garbage[:60], raw(server, garbage)[:100])
    assert status(b"GET /v2 HTTP/1.1\r\nA: " + b"b" * 20_000 + b"\r\n\r\n") == b"431"
    assert status(head + b"Content-Length: 99999999999\r\n\r\n", keep=True) == b"413"
    assert status(head + b"Content-Length: 99999999999999999999999999\r\n\r\n", keep=True) == b"400"
    assert status(head + b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"a" * 0x10000 + b"\r\n" + (b"100000\r\n" + b"a" * 0x100000 + b"\r\n") * 2, keep=True) == b"413"
    body = json.dumps({"inputs": [tensor("x", "FP32", np.ones((1, 3), np.float32))]}).encode()
    # Slow: the header begins and does not end, or the body does not come.
    assert raw(server, head + b"Content-Length: 10\r\n\r\n{", keep=True)[9:12] == b"408"
    assert b"100 Continue" in raw(server, head + b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    # Several requests at once on one connection are answered in order.
    request = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    answer = raw(server, request * 3 + b"GET /v2/models/scaled HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200 OK") == 4 and answer.count(b'"outputs":[{"name":"y"') == 4
    chunked = head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(b"%x\r\n%s\r\n" % (1, body[i : i + 1]) for i in range(len(body))) + b"0\r\n\r\n"
    assert status(chunked) == b"200", raw(server, chunked)
    assert status(b"HEAD /v2 HTTP/1.0\r\n\r\n") == b"200" and raw(server, b"HEAD /v2 HTTP/1.0\r\n\r\n").endswith(b"\r\n\r\n")
    # Whoever is unsure where a body ends would take the rest of it for the next request.
    for framing in b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunked, gzip", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked":
        answer = raw(server, head + framing + b"\r\n\r\n" + request)
        assert answer.count(b"HTTP/1.1") == 1 and answer[9:12] == b"400", (framing, answer)
    assert status(b"GET /v2 HTTP/1.1\r\n\r\n") == b"400" and status(b"GET /v2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == b"400"
    assert status(b"GET http://a/v2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") == b"200"
    trailed = head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nInference-Header-Content-Length: 5\r\n\r\n" % (len(body), body)
    assert status(trailed) == b"200"  # what comes behind a body is no header
    # What frames a message takes no memory and no time without a limit.
    begin = head + b"Transfer-Encoding: chunked\r\n\r\n"
    for endless in begin + b"0\r\n", begin, b"", head:
        piece = {begin + b"0\r\n": b"Y: " + b"y" * 100 + b"\r\n", begin: b"1;a=" + b"b" * 8000 + b"\r\nx\r\n"}.get(endless, b"A: " + b"b" * 1000 + b"\r\n") * 100
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            try:
                connection.sendall(endless)
                for _ in range(100_000):
                    connection.sendall(piece)
                raise AssertionError("it takes what does not end")
            except OSError:
                assert time.monotonic() - began < 20
    assert server.peak_memory() < 300e6, server.peak_memory()
    # Clients that leave: in the middle of a header, of a body, before the answer.
    for left in b"POST /v2/mod", head, request[:-4], request:
        for _ in range(20):
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(left)
            connection.close()
    # Many large requests, one after the other on one connection.
    x = np.arange(60_000, dtype=np.float32).reshape(-1, 3)
    body, headers = binary_request([("x", "FP32", x)], everything=True)
    connection = server.connect()
    for _ in range(200):
        connection.request("POST", "/v2/models/scaled/infer", body, headers)
        answer = connection.getresponse()
        assert np.array_equal(np.frombuffer(read_binary(answer.headers, answer.read())["y"], np.float32), (10 * x).ravel())
    connection.close()


def check_metrics(server):
    _, headers, body = server.ask("GET", "/metrics")
    lines = [line for line in body.decode().splitlines() if not line.startswith("#")]
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found = {}
    for line in lines:
        name, value = line.rsplit(" ", 1)
        assert name not in found, name
        found[name] = float(value)
    assert found['onnxc_requests_total{model="scaled",version="10",status="2xx"}'] > 3 and found['onnxc_requests_total{model="scaled",version="10",status="4xx"}'] > 20
    buckets = [v for k, v in found.items() if k.startswith('onnxc_request_seconds_bucket{model="scaled",version="10"')]
    assert buckets == sorted(buckets) and buckets[-1] == found['onnxc_request_seconds_count{model="scaled",version="10"}']
    assert found["onnxc_failed_loads_total"] == 0 and found["process_resident_memory_bytes"] > 1e6


LIMITS = ["--io-threads", "1", "--max-body", "1M", "--max-run", "16M", "--request-timeout", "1"]  # what the requests above run into


def make_models(repository):
    for version in 1, 3, 10:
        models.scaled(repository / "scaled" / str(version) / "model.onnx", float(version))
    models.types(repository / "types/1/model.onnx")
    models.pick(repository / "pick/1/model.onnx")
    models.square(repository / "square/model.onnx")
    models.count(repository / "count/model.onnx")


def check(server):
    """Returns how many groups of requests there are."""
    groups = [check_descriptions, check_results, check_types, check_numbers, check_bad_requests, check_http, check_metrics]
    for group in groups:
        group(server)
        assert server.process.poll() is None
    return len(groups)


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_models(Path(folder))
        with Server([sys.argv[1], "serve", folder, "-O0", *LIMITS]) as server:
            groups = check(server)
            assert server.end() == 0
        print(f"the protocol: {groups} groups of requests are answered as they should be")


if __name__ == "__main__":
    main()
