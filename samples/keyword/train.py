#!/usr/bin/env python3
"""Trains the sample model: ten spoken words, in plain numpy, on features that the program's own C++ computes.

    tools/setup.sh --sample-deps --test-deps     # or espeak-ng and g++ of Debian, and numpy, onnx and onnxruntime by pip
    . tools/env.sh && "$ONNXC_PYTHON" samples/keyword/train.py

$ONNXC names the onnxc that quantises, by default build/onnxc. Writes keyword.onnx, which `onnxc quantize` has made of the trained network, and two clips by voices
that training did not hear: yes.wav, stop.wav. The seeds are fixed; takes some minutes on one core. Other versions of numpy or espeak-ng give another model, as good.
"""
import ctypes
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the order of sums does not depend on the machine's cores
import subprocess
import tempfile
import wave
from pathlib import Path

import network
import numpy as np
import onnx
import onnxruntime
import speech
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
ONNXC = os.environ.get("ONNXC", HERE / "../../build/onnxc")
EPOCHS, BATCH, RATE = 30, 64, 3e-3


def features(clips):
    """[n, 49, 10] of clips [n, 16000], by features.hpp."""
    frames = np.empty((len(clips), 49, 10), np.float32)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    features.library.features_of_clips(pointer(clips), ctypes.c_size_t(len(clips)), pointer(frames))
    return frames


def train(sounds, random):
    """Parameters and statistics. Each epoch hears the utterances in other places, rooms and noises."""
    libc = ctypes.CDLL(None)
    for parameter in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD: large arrays come from the heap again, not from the system, which would clear them
        libc.mallopt(parameter, 1 << 30)
    params = network.parameters(random)
    statistics = [[np.zeros(network.CHANNELS, np.float32), np.ones(network.CHANNELS, np.float32)] for _ in range(len(params) // 3)]
    adam = network.Adam(params)
    for epoch in range(EPOCHS):
        clips, labels = speech.scenes(sounds, len(sounds) // 13, random)
        x = features(clips)
        batches = len(x) // BATCH
        for batch in range(batches):
            done = epoch + batch / batches
            rate = RATE * min(1, done + 0.1) * 0.5 * (1 + np.cos(np.pi * done / EPOCHS))
            some = slice(batch * BATCH, (batch + 1) * BATCH)
            adam(params, network.gradients(params, statistics, x[some], labels[some]), rate)
        right = network.forward(params, statistics, x)[0].argmax(axis=1) == labels
        print(f"epoch {epoch + 1} of {EPOCHS}: right on {100 * right.mean():.1f} % of what it was trained with", flush=True)
    return params, statistics


def export(weights, path):
    """`weights`: of network.folded."""
    channels = network.CHANNELS
    pads = [before for before, _ in network.FIRST_PADS] + [after for _, after in network.FIRST_PADS]
    nodes, stored, value = [], [], "features"

    def node(kind, name, *weights, **attributes):
        nonlocal value
        for suffix, array in zip(("weight", "bias"), weights):
            stored.append(numpy_helper.from_array(np.ascontiguousarray(array, np.float32), f"{name}.{suffix}"))
        nodes.append(helper.make_node(kind, [value, *(f"{name}.{suffix}" for suffix, _ in zip(("weight", "bias"), weights))], [name], name, **attributes))
        value = name

    node("Conv", "first", weights[0].T.reshape(channels, 1, *network.FIRST), weights[1], kernel_shape=list(network.FIRST), strides=[2, 2], pads=pads)
    node("Relu", "first.relu")
    for block in range(network.BLOCKS):
        depthwise, depthwise_bias, pointwise, pointwise_bias = weights[2 + 4 * block : 6 + 4 * block]
        node("Conv", f"depthwise{block}", depthwise.transpose(2, 0, 1)[:, None], depthwise_bias, kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=channels)
        node("Relu", f"depthwise{block}.relu")
        node("Conv", f"pointwise{block}", pointwise.T[:, :, None, None], pointwise_bias, kernel_shape=[1, 1])
        node("Relu", f"pointwise{block}.relu")
    node("GlobalAveragePool", "pool")
    node("Flatten", "flat")
    node("Gemm", "last", weights[-2].T, weights[-1], transB=1)
    node("Softmax", "scores", axis=1)
    graph = helper.make_graph(nodes, "keyword", [helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, 1, 49, 10])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, network.CLASSES])], stored)
    model = helper.make_model(graph, producer_name="samples/keyword/train.py", ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def accuracy(path, x, labels):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = np.array([session.run(None, {"features": one[None, None]})[0][0].argmax() for one in x])
    words = labels < speech.UNKNOWN
    print(f"{Path(path).name}: right on {100 * (found == labels).mean():.1f} % of {len(x)} clips by voices not heard in training; of the ten words "
          f"{100 * (found == labels)[words].mean():.1f} %; of others and noise {100 * (found[~words] < speech.UNKNOWN).mean():.1f} % were taken for one of the ten")


def write_wav(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(speech.RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def sample(word, voice, random):
    """A clip for the program: the word in the middle of a second, with a little noise."""
    sound = speech.say(word, voice, "en-us", 150, 50)
    clip = speech.noise(random) * 0.002
    speech.place(clip, sound * 0.5 / np.abs(sound).max(), (len(clip) - len(sound)) // 2)
    return np.round(clip * 32767)


def main():
    random = np.random.default_rng(7)
    to_train, to_test = speech.voices()
    sizes = (0.85, 1.15)
    sounds = speech.utterances(speech.WORDS, to_train, 300, sizes, random) + speech.utterances(speech.OTHERS, to_train, 10, sizes, random)
    sounds += speech.utterances(speech.made_up(1000, random), to_train, 1, sizes, random)
    unheard = speech.utterances(speech.WORDS, to_test, 60, (1, 1), random) + speech.utterances(speech.OTHERS_TO_TEST, to_test, 15, (1, 1), random)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-fPIC", "-shared", HERE / "features.cpp", "-o", work / "features.so"], check=True)
        features.library = ctypes.CDLL(str(work / "features.so"))
        params, statistics = train(sounds, random)
        export(network.folded(params, statistics), work / "float.onnx")
        np.savez(work / "calibration.npz", features=features(speech.scenes(sounds, 200, random)[0][:300])[:, None])
        subprocess.run([ONNXC, "quantize", work / "float.onnx", "--calibration", work / "calibration.npz", "-o", HERE / "keyword.onnx"], check=True)
        clips, labels = speech.scenes(unheard, 60, random)
        x = features(clips)
        for path in (work / "float.onnx", HERE / "keyword.onnx"):
            accuracy(str(path), x, labels)
    for word, voice in (("yes", to_test[0]), ("stop", to_test[5])):
        write_wav(HERE / f"{word}.wav", sample(word, voice, random))


if __name__ == "__main__":
    main()
