"""Clients and tools of others, as they are: Triton's HTTP client, Prometheus' reader of metrics, the schemas of Kubernetes.

    check_clients.py ONNXC
"""
import sys
import tempfile
from pathlib import Path

import kubernetes_validate
import models
import numpy as np
import tritonclient.http as triton
import yaml
from client import Server
from prometheus_client.parser import text_string_to_metric_families

ONNXC = sys.argv[1]
SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "server"


def check_triton(server):
    client = triton.InferenceServerClient(f"127.0.0.1:{server.port}", concurrency=8)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("scaled") and not client.is_model_ready("none")
    assert client.get_server_metadata()["name"] == "onnxc"
    assert client.get_model_metadata("scaled")["inputs"][0]["shape"] == [-1, 3]
    assert client.get_model_config("scaled")["input"][0]["data_type"] == "TYPE_FP32"
    assert {model["name"] for model in client.get_model_repository_index()} == {"scaled", "types"}
    x = np.arange(12, dtype=np.float32).reshape(4, 3)

    def ask(is_binary, wants_binary):
        given = triton.InferInput("x", x.shape, "FP32")
        given.set_data_from_numpy(x, binary_data=is_binary)
        return client.infer("scaled", [given], outputs=[triton.InferRequestedOutput("y", binary_data=wants_binary)], request_id="7")

    for is_binary in True, False:
        for wants_binary in True, False:
            answer = ask(is_binary, wants_binary)
            assert np.array_equal(answer.as_numpy("y"), 2 * x) and answer.get_response()["id"] == "7"
    # Every type that the client knows, in binary.
    inputs = []
    expected = {}
    for name, (_, kind) in models.TYPES.items():
        array = np.array([b"a", "\u00e4".encode(), b""], np.object_) if name == "BYTES" else np.array([0, 1, 1]).astype(kind)
        expected[f"out_{name}"] = array
        given = triton.InferInput(f"in_{name}", array.shape, name)
        given.set_data_from_numpy(array)
        inputs.append(given)
    answer = client.infer("types", inputs)  # without a list of outputs: all, in binary
    for name, array in expected.items():
        assert np.array_equal(answer.as_numpy(name), array), name
    # Requests that are under way at once.
    given = triton.InferInput("x", x.shape, "FP32")
    given.set_data_from_numpy(x)
    waiting = [client.async_infer("scaled", [given]) for _ in range(64)]
    assert all(np.array_equal(one.get_result().as_numpy("y"), 2 * x) for one in waiting)
    statistics = client.get_inference_statistics("scaled")["model_stats"][0]
    assert statistics["inference_stats"]["success"]["count"] >= 68
    for wrong in {"model_name": "none"}, {"model_name": "scaled", "model_version": "9"}:
        try:
            client.infer(inputs=[given], **wrong)
            raise AssertionError(wrong)
        except triton.InferenceServerException as error:
            assert "no" in error.message()
    client.load_model("scaled")
    client.unload_model("types")
    assert not client.is_model_ready("types")
    client.close()


def check_metrics(server):
    families = {family.name: family for family in text_string_to_metric_families(server.ask("GET", "/metrics")[2].decode())}
    assert families["onnxc_requests"].type == "counter" and families["onnxc_request_seconds"].type == "histogram"
    assert sum(sample.value for sample in families["onnxc_requests"].samples if sample.labels["status"] == "2xx") >= 68


def check_manifests():
    documents = list(yaml.safe_load_all((SAMPLE / "kubernetes.yaml").read_text()))
    for document in documents:
        kubernetes_validate.validate(document, "1.31", strict=True)
    assert {document["kind"] for document in documents} == {"Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler"}
    # A Knative service holds the template of a pod, with fields of its own beside; its annotations are strings.
    knative = yaml.safe_load((SAMPLE / "knative.yaml").read_text())
    assert (knative["apiVersion"], knative["kind"]) == ("serving.knative.dev/v1", "Service")
    template = knative["spec"]["template"]
    spec = {k: v for k, v in template["spec"].items() if k not in ("containerConcurrency", "timeoutSeconds")}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", **template["metadata"]}, "spec": spec}
    for container in pod["spec"]["containers"]:
        container.setdefault("name", "user-container")  # as Knative does
        container["readinessProbe"]["httpGet"].setdefault("port", 8080)
    kubernetes_validate.validate(pod, "1.31", strict=True)


with tempfile.TemporaryDirectory() as folder:
    models.scaled(Path(folder) / "scaled/1/model.onnx")
    models.types(Path(folder) / "types/1/model.onnx")
    with Server([ONNXC, "serve", folder, "-O0", "--model-control"]) as server:
        check_triton(server)
        check_metrics(server)
        assert server.end() == 0
check_manifests()
print("Triton's client, Prometheus' reader and Kubernetes' schemas agree with it")
