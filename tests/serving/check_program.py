"""A program with its models inside: what onnxc_add_server makes of samples/server.

    check_program.py BUILD_FOLDER [--all]     --all: also for a processor that is not here, and as the one file of an image, which buildah makes and chroot runs
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import models
import numpy as np
from client import Server, tensor

BUILD, ALL = Path(sys.argv[1]).resolve(), "--all" in sys.argv
SOURCE = Path(__file__).resolve().parents[2]


def digit():
    """The sample's image and its scores."""
    words = re.sub(r"#.*", "", (SOURCE / "samples/digits/digit.pgm").read_text()).split()
    image = np.array([float(w) for w in words[4:]], np.float32).reshape(1, 1, 8, 8) / 16
    return image, [float(x) for x in (SOURCE / "samples/digits/expected.txt").read_text().split()[2:]]


def build(folder, machine, sources, kind="Debug"):
    out = folder / machine
    command = ["cmake", "-S", SOURCE / "samples/server", "-B", out, f"-DCMAKE_PREFIX_PATH={BUILD}", f"-DMODELS={';'.join(sources)}", f"-DMACHINE={machine}", f"-DCMAKE_BUILD_TYPE={kind}"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    for step in command, ["cmake", "--build", out, "--parallel", str(os.cpu_count())]:
        done = subprocess.run(list(map(str, step)), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return out / "digits_server"


def check(server):
    image, expected = digit()
    status, answer = server.infer("digits", {"inputs": [tensor("image", "FP32", image)]})
    assert status == 200, answer
    scores = answer["outputs"][0]["data"]
    assert len(scores) == len(expected) == 10 and np.allclose(scores, expected, rtol=1e-3, atol=1e-5), (scores, expected)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    models.scaled(folder / "two.onnx", 2.0)
    models.scaled(folder / "three.onnx", 3.0)
    processor = Path("/proc/cpuinfo").read_text()
    program = build(folder, "x86-64-v2", [f"digits={SOURCE}/samples/digits/digits.onnx", f"scaled:2={folder}/two.onnx", f"scaled:10={folder}/three.onnx"])
    with Server([program, "--host", "127.0.0.1", "--batch", "1"]) as server:
        check(server)
        x = np.ones((2, 3), np.float32)
        for version, factor in ("", 3), ("/versions/2", 2), ("/versions/10", 3):
            assert server.infer(f"scaled{version}", {"inputs": [tensor("x", "FP32", x)]})[1]["outputs"][0]["data"] == [factor] * 6
        assert server.end() == 0
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    assert "not a dynamic executable" in said.stdout + said.stderr
    if ALL and "avx512_bf16" not in processor:
        wrong = build(folder, "zen5", [f"digits={SOURCE}/samples/digits/digits.onnx"])
        done = subprocess.run([str(wrong), "--port", "0"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "this processor has no AVX-512" in done.stderr, done
    print("a program with its models inside answers, and says which instructions it misses")

    if ALL:
        # As Containerfile has it; its first stage needs the network, and what that builds is here already.
        program = build(folder, "x86-64-v3", [f"digits={SOURCE}/samples/digits/digits.onnx"], "Release")
        context = folder / "context"
        context.mkdir()
        shutil.copy(program, context / "digits_server")
        subprocess.run(["strip", str(context / "digits_server")], check=True)
        text = (SOURCE / "samples/server/Containerfile").read_text()
        (context / "Containerfile").write_text(re.sub(r"COPY --from=build /build/", "COPY ", text[text.index("FROM scratch"):]))
        store = ["--root", str(folder / "store"), "--runroot", str(folder / "run"), "--storage-driver", "vfs"]

        def buildah(*arguments):
            return subprocess.run(["buildah", *store, *arguments], check=True, capture_output=True, text=True).stdout.strip()

        buildah("build", "--isolation", "chroot", "--format", "oci", "--tag", "digits-server", str(context))
        container = buildah("from", "digits-server")
        root = Path(buildah("mount", container))
        files = [path for path in root.rglob("*") if path.is_file()]
        assert [path.name for path in files] == ["server"], files
        config = json.loads(buildah("inspect", "--type", "image", "digits-server"))["OCIv1"]["config"]
        assert config["Entrypoint"] == ["/server"] and config["User"] == "65534:65534"
        begin = time.monotonic()
        with Server(["chroot", "--userspec=65534:65534", str(root), "/server", "--host", "127.0.0.1"]) as server:
            check(server)
            seconds = time.monotonic() - begin
            assert server.end() == 0
        print(f"an image of one file, {files[0].stat().st_size / 1e6:.1f} MB, whose first answer comes {1000 * seconds:.0f} ms after its start")
        buildah("umount", container)
