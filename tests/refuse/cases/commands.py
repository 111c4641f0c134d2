"""What subcommands refuse, and what onnxc says of the compilers, files and folders around it."""
import os
import pickle
import stat

import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from .case import BUDGET, INVALID, IO, USAGE, case, save
from .models import good, model, node, one, tensor, value

OUT = "-o {out}/made.onnx"


def program(folder, name, text):
    """A program for PATH or ONNXC_CXX that says something and fails."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def layers():
    """Two products that can be quantised and compressed."""
    random = np.random.default_rng(0)
    nodes = [node("MatMul", ["x", "w"], ["t"]), node("Relu", ["t"], ["u"]), node("MatMul", ["u", "v"], ["y"])]
    return model(nodes, [value("x", (1, 64))], [value("y", (1, 64))],
                 [tensor("w", random.standard_normal((64, 64))), tensor("v", random.standard_normal((64, 64)))])


def with_samples(folder, rows=4, width=64):
    save(folder, layers())
    np.save(folder / "samples.npy", np.random.default_rng(1).standard_normal((rows, width)).astype(np.float32))


# ---- the command line


@case(USAGE, code="E0502", command="{model}")
def no_output():
    return good()


@case(USAGE, "--calibration is missing", code="E0502", command="quantize {model} " + OUT)
def quantize_without_calibration():
    return layers()


@case(USAGE, "--profile belongs to one model", code="E0503", command="report --diff {model} {model} --profile {folder}/profile.json -o {out}/page.html")
def report_of_two_with_a_profile():
    return good()


@case(USAGE, "is not name=size", code="E0505", options=["--specialize", "batch"])
def specialize_without_sizes():
    return good()


@case(USAGE, "no dynamic dimension", code="E0505", options=["--specialize", "batch=1,2"])
def specialize_what_is_fixed():
    return good()


@case(USAGE, "names 'z', which is no input", "inputs are", code="E0507", options=["--state", "z=y"])
def state_of_no_input():
    return good()


@case(USAGE, "has no such value", code="E0508", command="run {model} --tap nothing")
def tap_of_nothing():
    return good()


@case(USAGE, "is read, and would be replaced", code="E0510", command="{model} -o {model}")
def output_over_the_model():
    return good()


@case(USAGE, "is no JSON", code="E0511", command="report {model} --profile {folder}/model.onnx -o {out}/page.html")
def report_of_no_profile():
    return good()


@case(USAGE, "--check does not hold", code="E0512", command="reduce {model} --check false " + OUT)
def reduce_what_is_of_no_interest():
    return good()


@case(USAGE, "there is no error E9999", code="E0501", command="explain E9999")
def explain_no_code():
    return good()


@case(USAGE, "--custom-op", code="E0411", options=["--custom-op", "a.Op"])
def custom_operator_without_a_function():
    return good()


@case(INVALID, "a.Op 'n'", "neither a number", code="E0412", options=["--custom-op", "a.Op=op.hpp:f, y0 = x0"])
def custom_operator_with_a_tensor():
    return one("Op", {"domain": "a", "t": tensor("", [1.0])}, opsets=(("", 17), ("a", 1)))


@case(USAGE, "the C++ does not build with the custom operators", code="E0413", command="run {model} -I {folder} --custom-op 'a.Op=op.hpp:f, y0 = x0'")
def custom_operator_that_does_not_compile(folder):
    (folder / "op.hpp").write_text("#error no\n")
    save(folder, one("Op", {"domain": "a"}, opsets=(("", 17), ("a", 1))))


# ---- targets


@case(USAGE, "does not run on this machine", code="E0407", command="run {model} --target=cortex-m4")
def run_on_another_machine():
    return good()


@case(USAGE, "--on=emulator", code="E0408", command="run {model} --target=cuda-sm80 --on=gpu", environment={"CUDA_VISIBLE_DEVICES": ""})
def run_on_no_gpu():
    return good()


def sequences():
    x = helper.make_tensor_sequence_value_info("x", T.FLOAT, (2, 3))
    return model([node("ConcatFromSequence", ["x"], ["y"], axis=0)], [x], [value("y", ("n", 3))])


@case(INVALID, "a self-test of this model is not possible", code="E0409", options=["--self-test", "--target=generic"])
def self_test_of_sequences():
    return sequences()


@case(INVALID, "the self-test fails on this machine", code="E0410", options=["--self-test", "--target=generic"])
def self_test_that_fails(folder):
    save(folder, one("Relu"))
    data = folder / "test_data_set_0"
    data.mkdir()
    for name in ("input_0", "output_0"):  # of which the second is wrong
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(np.full((2, 3), -1, np.float32)).SerializeToString())


@case(INVALID, "no bound", code="E0401", options=["--no-heap"])
def no_heap():
    return sequences()


@case(INVALID, "it cannot run on a GPU", code="E0402", options=["--target=cuda-sm80", "--devices=gpu"])
def text_on_a_gpu():
    return model([node("StringConcat", ["x", "x"], ["y"], name="n")], [value("x", (2,), T.STRING)], [value("y", (2,), T.STRING)], opsets=(("", 20),))


@case(INVALID, "leave --math=reproducible out", code="E0403", options=["--math=reproducible"])
def reproducible_mel_weights():
    shape = [tensor(name, number, np.int64) for name, number in (("bins", 8), ("length", 64), ("rate", 8192))]
    edges = [value("low", ()), value("high", ())]
    return model([node("MelWeightMatrix", ["bins", "length", "rate", "low", "high"], ["y"], name="n")], edges, [value("y", (33, 8))], shape)


@case(USAGE, "a package is for another machine", code="E0406", command="package {model} --as zephyr --target=native -o {out}/package")
def package_for_this_machine():
    return good()


# ---- compilers, folders, files


@case(IO, "cannot be started", code="E0605", command="run {model}", environment={"ONNXC_CXX": "/nonexistent/g++"})
def no_compiler():
    return good()


def refused_by(code, name, words, make=good, exit=IO):
    """`run` with a compiler that says this."""

    @case(exit, code=code, command="run {model}", environment={"ONNXC_CXX": "{folder}/compiler", "ONNXC_CACHE": "{folder}/cache"}, name=name)
    def refused(folder):
        program(folder, "compiler", f"echo '{words}' >&2\nexit 1")
        save(folder, make())


def picture():
    return model([node("ImageDecoder", ["x"], ["y"])], [value("x", ("n",), T.UINT8)], [value("y", ("h", "w", 3), T.UINT8)], opsets=(("", 20),))


refused_by("E0606", "a compiler that is too old", "cc: error: unrecognized command-line option -std=c++20")
refused_by("E0607", "a compiler without a library", "unit.cpp:1:10: fatal error: cstdint: No such file or directory")
refused_by("E0608", "a compiler on a full disk", "as: unit.o: No space left on device")
refused_by("E0609", "a compiler without a picture library", "ld: undefined reference to TIFFOpen", picture)


@case(IO, "no folder that only this user can write to", code="E0604", command="run {model}",
      environment={"TMPDIR": "{folder}", "HOME": "", "XDG_CACHE_HOME": "", "ONNXC_CACHE": ""})
def cache_of_others(folder):
    shared = folder / f"onnxc-{os.geteuid()}"
    shared.mkdir()
    os.chmod(shared, 0o777)
    save(folder, good())


@case(IO, "runtime header", code="E0610", options=["--standalone"], environment={"ONNXC_RUNTIME_DIR": "{folder}"})
def no_runtime(folder):
    (folder / "onnxc").mkdir()
    (folder / "onnxc/base.hpp").touch()
    save(folder, good())


@case(IO, "is no cache of --tune", code="E0611", command="{model} --tune=cached --tune-cache={model} -o {out}/model.cpp")
def tune_cache_is_a_model():
    return good()


@case(IO, "is there already", code="E0603", command="package {model} --as zephyr --target=cortex-m4 -o {folder}")
def package_over_a_folder():
    return good()


# ---- data


@case(IO, code="E0602", command="run {model} --data {folder}/nothing")
def no_data():
    return good()


@case(INVALID, "has no array for input 'x'", code="E0701", command="quantize {model} --calibration {folder}/samples.npz " + OUT)
def samples_for_another_input(folder):
    save(folder, layers())
    np.savez(folder / "samples.npz", z=np.zeros((2, 64), np.float32), a=np.zeros((2, 64), np.float32))


@case(INVALID, "the value of input 'x' is f32[1, 63]", code="E0702", command="quantize {model} --calibration {folder}/samples.npy " + OUT)
def samples_of_another_shape(folder):
    with_samples(folder, width=63)


@case(INVALID, "damaged .npy", code="E0703", command="quantize {model} --calibration {folder}/samples.npy " + OUT)
def samples_cut_off(folder):
    with_samples(folder)
    path = folder / "samples.npy"
    path.write_bytes(path.read_bytes()[:-5])


@case(INVALID, "an array of Python objects", code="E0704", command="quantize {model} --calibration {folder}/samples.npy " + OUT)
def samples_of_objects(folder):
    save(folder, layers())
    np.save(folder / "samples.npy", np.array([{}, pickle], dtype=object)[:1], allow_pickle=True)


@case(INVALID, "no integer", code="E0705", command="quantize {model} --calibration {folder}/samples.npy --keep-accuracy 1 --labels {folder}/labels.txt " + OUT)
def labels_that_are_words(folder):
    with_samples(folder)
    (folder / "labels.txt").write_text("cat\ndog\n")


@case(INVALID, "run: ", code="E0706", command="run {model} --target=generic")
def run_refuses_a_negative_length(folder):
    save(folder, model([node("Expand", ["x", "shape"], ["y"], name="n")], [value("x", ("a",)), value("shape", (1,), T.INT64)], [value("y", ("b",))]))
    data = folder / "test_data_set_0"
    data.mkdir()
    for k, array in enumerate((np.zeros(3, np.float32), np.array([7], np.int64))):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


@case(INVALID, "no made-up data for input 'x'", code="E0707", command="bench {model}")
def bench_of_maps():
    x = helper.make_value_info("x", helper.make_map_type_proto(T.INT64, helper.make_tensor_type_proto(T.FLOAT, [])))
    return model([node("CastMap", ["x"], ["y"], domain="ai.onnx.ml", cast_to="TO_FLOAT")], [x], [value("y", (1, "n"))], opsets=(("", 17), ("ai.onnx.ml", 1)))


@case(INVALID, "nothing could be compared", code="E0708", command="verify {model} --no-code --target=generic -I {folder} --custom-op 'a.Op=op.hpp:f, y0 = x0'")
def verify_what_cannot_be_evaluated(folder):
    (folder / "op.hpp").write_text("#pragma once\n#include <onnxc/custom.hpp>\n"
                                   "inline onnxc::Status f(onnxc::Tensor<const float>, onnxc::Tensor<float>, const onnxc::Attributes&) { return {}; }\n")
    save(folder, one("Op", {"domain": "a"}, opsets=(("", 17), ("a", 1))))


# ---- quantising and compressing


@case(INVALID, "quantised already", code="E0801", command="quantize {model} --format weights8 " + OUT)
def quantize_twice():
    nodes = [node("QuantizeLinear", ["x", "s"], ["q"]), node("DequantizeLinear", ["q", "s"], ["t"]), node("MatMul", ["t", "w"], ["y"])]
    return model(nodes, outputs=[value("y", (2, 3))], weights=[tensor("s", 0.1), tensor("w", np.eye(3))])


@case(INVALID, "no layer can be quantised", code="E0802", command="quantize {model} --format weights8 " + OUT)
def quantize_nothing():
    return one("Relu")


@case(INVALID, "is no tensor of floats", code="E0803", command="quantize {model} --calibration {folder}/samples.npy --keep-cosine 0.9 " + OUT)
def cosine_of_integers(folder):
    with_samples(folder)
    m = layers()
    m.graph.node[-1].output[0] = "z"
    m.graph.node.append(node("Cast", ["z"], ["y"], to=T.INT64))
    m.graph.output[0].CopyFrom(value("y", (1, 64), T.INT64))
    save(folder, m)


@case(INVALID, "cannot be brought to", code="E0804", command="quantize {model} --format weights8 " + OUT)
def quantize_an_opset_that_stays():
    m = layers()  # ONNX's converter knows no way from the first Tile
    m.graph.node.append(node("Tile", ["y", "one", "one"], ["z"]))
    m.graph.initializer.append(tensor("one", 1))
    m.graph.output[0].name = "z"
    m.opset_import[0].version = 5
    return m


@case(BUDGET, "is the least that can be reached", code="E0805", command="compress {model} --calibration {folder}/samples.npy --parameters 0.0001 " + OUT)
def compress_to_nothing(folder):
    with_samples(folder)


# ---- limits


@case(BUDGET, "see --max-code", code="E0904", options=["--max-code=10", "--target=generic"])
def code_limit():
    return good()


@case(BUDGET, "see --max-ram", code="E0906", options=["--max-ram=10", "--target=generic"])
def ram_limit():
    return good()


@case(INVALID, "the stack has no bound", code="E0907", options=["--max-stack=1M", "--target=generic"], environment={"ONNXC_CXX": "clang++"})
def stack_by_clang():
    return good()


@case(BUDGET, "--gpu-memory", code="E0908", options=["--target=cuda-sm80", "--devices=gpu", "--gpu-memory=16"])
def gpu_memory_limit():
    return good()


@case(BUDGET, "--timeout allows more", code="E0911", options=["--timeout=0.01"])
def timeout():
    nodes = [node("Conv", ["x" if k == 0 else f"v{k - 1}", "w"], [f"v{k}"], pads=[1, 1, 1, 1]) for k in range(300)]
    return model([*nodes, node("Relu", ["v299"], ["y"])], [value("x", (1, 32, 32, 32))], [value("y", (1, 32, 32, 32))], [tensor("w", np.zeros((32, 32, 3, 3)))])


@case(BUDGET, "out of memory", code="E0912", options=["--max-memory=2M"])
def memory_limit():
    return good()


@case(INVALID, "only known for ELF files", code="E0913", options=["--max-flash=1G", "--target=generic"],
      environment={"ONNXC_CXX": "{folder}/compiler", "ONNXC_CACHE": "{folder}/cache"})
def sizes_of_no_elf_file(folder):
    program(folder, "compiler", 'while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo text >"$2"; : >"${2%.*}.ci"; fi; shift; done')
    save(folder, good())
