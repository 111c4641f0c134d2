"""The server that most would write: FastAPI and ONNX Runtime, with the Open Inference Protocol's binary tensors and joined requests.

    MODELS=name=model.onnx,… BATCH=32 DELAY_US=0 RUNS=2 uvicorn fastapi_server:app

RUNS: how many runs of a model may be under way, each on one thread.
"""
import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime as ort
import orjson
from fastapi import FastAPI, Request, Response

KINDS = {"FP32": np.float32, "FP64": np.float64, "INT64": np.int64, "INT32": np.int32}
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}
BATCH, DELAY, RUNS = int(os.environ.get("BATCH", "1")), float(os.environ.get("DELAY_US", "0")) / 1e6, int(os.environ.get("RUNS", "1"))


class Model:
    def __init__(self, path):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = [i.name for i in self.session.get_inputs()]
        self.outputs = [o.name for o in self.session.get_outputs()]
        self.joins = BATCH > 1 and all(not isinstance(i.shape[0], int) for i in self.session.get_inputs())
        self.queue = asyncio.Queue()
        self.pool = ThreadPoolExecutor(RUNS)

    def start(self):
        self.tasks = [asyncio.create_task(self.work()) for _ in range(RUNS)]

    async def work(self):
        loop = asyncio.get_running_loop()
        while True:
            jobs = [await self.queue.get()]
            rows = len(jobs[0][0][self.inputs[0]])
            end = loop.time() + DELAY
            while self.joins and rows < BATCH:
                try:
                    left = end - loop.time()
                    job = self.queue.get_nowait() if left <= 0 else await asyncio.wait_for(self.queue.get(), left)
                except (asyncio.QueueEmpty, asyncio.TimeoutError):
                    break
                jobs.append(job)
                rows += len(job[0][self.inputs[0]])
            feeds = jobs[0][0] if len(jobs) == 1 else {n: np.concatenate([j[0][n] for j in jobs]) for n in self.inputs}
            results = await loop.run_in_executor(self.pool, self.session.run, self.outputs, feeds)
            at = 0
            for given, future in jobs:
                size = len(given[self.inputs[0]])
                future.set_result([r[at : at + size] if len(jobs) > 1 else r for r in results])
                at += size

    async def infer(self, feeds):
        future = asyncio.get_running_loop().create_future()
        await self.queue.put((feeds, future))
        return await future


models = {}
app = FastAPI()


@app.on_event("startup")
async def start():
    for entry in os.environ["MODELS"].split(","):
        name, path = entry.split("=", 1)
        models[name] = Model(path)
        models[name].start()


@app.get("/v2/health/ready")
async def ready():
    return {"ready": True}


@app.post("/v2/models/{name}/infer")
async def infer(name: str, request: Request):
    model = models[name]
    body = await request.body()
    size = request.headers.get("inference-header-content-length")
    head = orjson.loads(body[: int(size)] if size else body)
    at, feeds = int(size or 0), {}
    for tensor in head["inputs"]:
        kind = KINDS[tensor["datatype"]]
        length = tensor.get("parameters", {}).get("binary_data_size")
        if length is None:
            array = np.array(tensor["data"], kind)
        else:
            array = np.frombuffer(body, kind, length // np.dtype(kind).itemsize, at)
            at += length
        feeds[tensor["name"]] = array.reshape(tensor["shape"])
    results = await model.infer(feeds)
    if not head.get("parameters", {}).get("binary_data_output"):
        outputs = [{"name": n, "datatype": NAMES[r.dtype], "shape": r.shape, "data": r.ravel()} for n, r in zip(model.outputs, results)]
        return Response(orjson.dumps({"model_name": name, "outputs": outputs}, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")
    blobs = [np.ascontiguousarray(r).tobytes() for r in results]
    outputs = [{"name": n, "datatype": NAMES[r.dtype], "shape": r.shape, "parameters": {"binary_data_size": len(b)}} for n, r, b in zip(model.outputs, results, blobs)]
    text = json.dumps({"model_name": name, "outputs": outputs}).encode()
    return Response(text + b"".join(blobs), media_type="application/octet-stream", headers={"Inference-Header-Content-Length": str(len(text))})
