"""What the pages need around their blocks, and what of them cannot be run in a test, with the reason.

A block is named by what it begins with, a command by a pattern. Reasons are counted in what the test prints.
"""
from dataclasses import dataclass, field

DIGITS = "samples/digits/digits.onnx"


@dataclass
class Wrap:
    """Text around a block of C++, C or Python that makes a whole of it; `replace` first fills what it leaves out."""
    before: str = ""
    after: str = ""
    replace: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Page:
    files: dict[str, str] = field(default_factory=dict)  # name in the page's folder: where it is in the repository
    before: list[str] = field(default_factory=list)  # commands
    saves: dict[str, str] = field(default_factory=dict)  # block: file that it becomes, for the commands that follow
    wraps: dict[str, Wrap] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)  # block: why it is neither run nor parsed
    own_compiler: bool = False  # units are built as a user builds them, by the target's own compiler and at -O3; else at -O0
    not_run: dict[str, str] = field(default_factory=dict)  # command: why; "python" and "cmake" for blocks in these
    needs: dict[str, str] = field(default_factory=dict)  # command: a program that is not everywhere
    long: list[str] = field(default_factory=list)  # commands that only --all runs
    varies: list[str] = field(default_factory=list)  # commands whose output is not compared


BUILDS = "it builds onnxc or installs packages, which is done before tests"
MEASURES = "it measures for minutes, or needs other engines; tests/bench rehearses it"
GPU = "it needs nvcc or a GPU"
LARGE = "it takes gigabytes or minutes; tests/llm has a smaller one"
NAMES = "MODEL and COMMAND stand for the reader's own"
INSIDE = '#include "{0}.h"\nvoid fail(const char*);\nvoid report(const char*, ...);\n'

digits_unit = "onnxc samples/digits/digits.onnx --target=generic -o digits.cpp"
samples = "import numpy as np; np.savez('samples.npz', image=np.random.default_rng(0).random([300, 1, 8, 8], np.float32)); np.save('samples.npy', np.zeros([4, 1, 8, 8], np.float32))"
make_samples = f'$ONNXC_PYTHON -c "{samples}"'

PAGES = {
    "README.md": Page(
        files={"digits.onnx": DIGITS, "main.cpp": "samples/digits/main.cpp"}, long=["main.cpp digits.cpp"],
        before=[digits_unit, "onnxc samples/digits/digits.onnx --target=x86-64-v3 -o known.cpp"],
        not_run={r"^\./(demo|test)\.sh": BUILDS, "^embed": "tests/samples runs the sentence encoder"},
        wraps={
            "// digits.h": Wrap('#include "known.h"\n', "static_assert(digits::arena_bytes == known::arena_bytes && digits::arena_alignment == known::arena_alignment);\n"),
            '#include "digits.h"': Wrap('#include <array>\n#include <cstddef>\n#include "digits.h"\nint fail(const char*);\nint caller() {\n', "return 0;\n}\n", [('#include "digits.h"\n', ""), ("= …", "= {}")]),
            "session =": Wrap("import numpy as np, onnxc\nimage = np.zeros((1, 1, 8, 8), np.float32)\n"),
        }),
    "docs/tutorial/first-model.md": Page(saves={"#include <array>": "tmp/first/main.cpp"}, not_run={r"^tools/setup.sh|^cmake --preset": BUILDS}),
    "docs/tutorial/cmake.md": Page(
        files={"digits.onnx": DIGITS},
        before=["mkdir -p /tmp/first && sed -n '/^```cpp/,/^```$/p' docs/tutorial/first-model.md | sed '/^```/d' >/tmp/first/main.cpp"],
        saves={"cmake_minimum_required": "tmp/project/CMakeLists.txt"}),
    "docs/tutorial/real-network.md": Page(files={"model.onnx": DIGITS}, wraps={"import numpy": Wrap()}),
    "docs/cmake.md": Page(files={"digits.onnx": DIGITS}),
    "docs/languages.md": Page(files={"digits.onnx": DIGITS}, saves={"#include <onnxc/model.h>": "main.c"}, needs={r"^clang\+\+-19": "clang++-19"}),
    "docs/adding-an-operator.md": Page(shown={"extern const Operator": "an excerpt of the compiler's own source"}),
    "docs/benchmarks.md": Page(not_run={r"^(bench|tools|ninja|build/kernel_bench)": MEASURES}),
    "docs/compressing.md": Page(
        files={"model.onnx": DIGITS, "digits.onnx": DIGITS}, before=[make_samples], long=["^onnxc compress", "small.onnx"],
        wraps={"report =": Wrap("import numpy as np, onnxc\nsamples = np.load('samples.npz')['image']\nlabels = np.zeros(300, np.int64)\n", "", [("keep_accuracy=1, labels=labels", "parameters=90")])}),
    "docs/cross-compiling.md": Page(files={"model.onnx": DIGITS}, before=["echo 'int main() {}' >main.cpp"], needs={"^aarch64": "aarch64-linux-gnu-g++"}, long=["^aarch64"]),
    "docs/cuda.md": Page(
        files={"model.onnx": DIGITS}, before=["onnxc model.onnx --target=cuda-sm80 -o model.cu"],
        not_run={"^nvcc": GPU, "cmake": GPU, r"<runtime_stub>": "its folder is the reader's; tests/gpu compiles such units"},
        wraps={
            '#include "model.h"': Wrap('#include <array>\n#include "model.h"\nvoid caller() {\n', "}\n", [('#include "model.h"', "//"), ("session.open()) …", "session.open()) return;"), ("{.scores = scores})) …", "{.scores = scores})) return;"),
                                                                                                           ("784", "64"), (".run({.image = image}", ".run({.image = image}")]),
            "model::DeviceInputs": Wrap('#include "model.h"\nvoid caller(float* image_on_gpu, float* scores_on_gpu, cudaStream_t stream) {\n', "}\n", [("= …", "= {}"), ("stream)) …", "stream)) return;")]),
            "const onnxc_model* m": Wrap('#include <onnxc/model.h>\nconst onnxc_model* model_model(void);\nvoid caller(onnxc_call call) {\n', "}\n", [("message)) …", "message)) return;")]),
            "session =": Wrap("import onnxc\n"),
        }),
    "docs/custom-operators.md": Page(
        files={"model.onnx": "samples/custom_operator/custom_operator.onnx"},
        shown={"domain.Op=header": "the form of an option, with its optional parts"},
        wraps={"#pragma once": Wrap("", "", [("++i) …", "++i) {}"), ("!= nullptr) …", "!= nullptr) {}")])}),
    "docs/differential.md": Page(shown={"tests/differential/run.sh": "commands beside what they do; test.sh runs them"}),
    "docs/emitted-interface.md": Page(
        not_run={"<runtime>": "its folder is the reader's; tests/samples compiles such units"},
        shown={"// Links with": "a comment that a unit has"},
        wraps={
            "namespace mnist": Wrap("#include <onnxc/base.hpp>\n#include <span>\n"),
            "struct Dims": Wrap("#include <onnxc/base.hpp>\n#include <span>\nstruct Inputs; struct Outputs;\n"),
            "inline constexpr": Wrap("#include <onnxc/base.hpp>\n#include <span>\nstruct Inputs; struct Outputs;\n"),
            "struct Outputs": Wrap("#include <cstdint>\n#include <span>\n"),
            "onnxc::Memory": Wrap("#include <onnxc/base.hpp>\n#include <onnxc/memory.hpp>\n#include <onnxc/model.h>\n#include <span>\nstruct Text { onnxc_value& value; };\nnamespace tokenizer { onnxc::Status run(int, Text, std::span<std::byte>, onnxc::Memory&); }\n"
                                  "void use(const std::int64_t*, std::int64_t);\nvoid caller(int text, std::span<std::byte> arena) {\n", "}\n", [("memory)) …", "memory)) return;")]),
        }),
    "docs/exporting.md": Page(not_run={"python": "tests/exporters runs it, where the frameworks are"}),
    "docs/firmware.md": Page(
        own_compiler=True, varies=["model.onnx"],  # which is the reader's
        files={"model.onnx": DIGITS, "kws.onnx": DIGITS}, before=[make_samples, "onnxc samples/digits/digits.onnx --target=generic --namespace=kws --self-test -o kws_tested.cpp"],
        not_run={r"^tools/setup|^cmake|^sudo": BUILDS},
        needs={"^arm-none-eabi|--measure|^onnxc profile": "arm-none-eabi-g++", "^samples/keyword/run|^onnxc profile": "qemu-system-arm"},
        long=["^onnxc (package|profile)", "quantize", "^samples/keyword/run"],
        shown={"MEMORY {": "a linker script; tests/firmware has one", "region ": "what onnxc info says of regions"},
        wraps={
            '#include "kws.h"': Wrap('#include <array>\n#include <cstddef>\n', "", [("std::int8_t, 490", "float, 64"), ("std::int8_t, 12", "float, 10"), (".input = ", ".image = "), (".output = ", ".scores = "), ("kws.h", "kws_tested.h")]),
            'alignas(kws::arena_alignment) [[gnu::section(".dtcm_bss")]]': Wrap(
                "#include <cstddef>\n#include <span>\nnamespace kws { constexpr std::size_t arena_alignment = 64, dtcm_bytes = 64, sram_bytes = 64; struct Inputs { int input; }; struct Outputs { int output; };\n"
                "struct Arenas { std::span<std::byte> dtcm, sram; }; bool run(Inputs, Outputs, Arenas); }\nint features, scores;\n"),
            "alignas(kws::arena_alignment) static std::byte memory": Wrap('#include <cstddef>\n#include "kws_tested.h"\nvoid report(const char*, long, long);\nvoid caller() {\n', "}\n"),
        }),
    "docs/language-models.md": Page(not_run={"1b|llm-1b": LARGE, "samples/llm": LARGE, "/tmp/llm": LARGE}),
    "docs/memory.md": Page(files={"model.onnx": DIGITS}, not_run={"^bench": MEASURES}, long=["huge-pages"]),
    "docs/numerics.md": Page(files={"model.onnx": DIGITS}, shown={"sum over blocks": "a formula"}),
    "docs/performance.md": Page(not_run={"^(bench|tools)": MEASURES}),
    "docs/performance-gpu.md": Page(not_run={"^(bench|cp)": GPU}),
    "docs/platforms.md": Page(before=["onnxc samples/digits/digits.onnx --target=x86-64-v3 -o model.cpp"], needs={"^x86_64-w64": "x86_64-w64-mingw32-g++-posix"}, long=["^x86_64-w64"]),
    "docs/profiling.md": Page(
        files={"model.onnx": DIGITS}, before=["onnxc samples/digits/digits.onnx --target=generic --profile --namespace=mnist -o mnist.cpp"],
        wraps={"const onnxc_profile": Wrap('#include <cstdio>\n#include <onnxc/profile.h>\n#include "mnist.h"\nextern "C" const onnxc_profile* mnist_profile(void);\nvoid run();\nvoid caller() {\n', "}\n", [("run(…)", "run()")])}),
    "docs/python.md": Page(files={"digits.onnx": DIGITS}, not_run={"^tools/setup.sh": BUILDS}, wraps={"import numpy": Wrap()}),
    "docs/quantising.md": Page(
        files={"model.onnx": DIGITS, "digits.onnx": DIGITS, "words.onnx": DIGITS}, before=[make_samples], long=["^onnxc quantize", "small.onnx"],
        shown={"// 5,388,800": "a comment that a unit has"},
        wraps={"report =": Wrap("import numpy as np, onnxc\nsamples = np.load('samples.npz')['image']\n")}),
    "docs/reducing.md": Page(not_run={"COMMAND": NAMES}),
    "docs/report.md": Page(files={"model.onnx": DIGITS}, before=["onnxc profile model.onnx --dim batch=1 --seconds 0.1 --json profile.json"]),
    "docs/clusters.md": Page(not_run={"^tools/setup.sh": BUILDS, "python": "it wants Ray and Spark; tests/cluster runs the blocks of this page"}),
    "docs/server.md": Page(
        files={"digits.onnx": DIGITS},
        before=["$ONNXC_PYTHON tests/docs/churn.py churn.onnx",
                "(timeout 60 onnxc serve churn.onnx --port 8000 --log none >/dev/null 2>&1 &) ; until curl -sf localhost:8000/v2/health/ready >/dev/null; do sleep 0.1; done"],
        not_run={"^onnxc serve": "it serves until it is ended: it does so while the page's requests run"},
        shown={"import numpy": "it wants Triton's client; tests/serving runs the same with it"}),
    "docs/state.md": Page(
        before=["$ONNXC_PYTHON tests/docs/decoder.py decoder.onnx"],
        wraps={
            "std::vector<float> key": Wrap('#include <cstddef>\n#include <cstdint>\n#include <span>\n#include <vector>\n#include "decoder.h"\nstd::int64_t best(const std::vector<float>&);\n'
                                           "void caller(std::span<std::byte> arena) {\n  const std::int64_t capacity = 8, heads = 2;\n  std::int64_t id = 1;\n  std::vector<float> logits(16);\n",
                                           "}\n", [("arena)) …", "arena)) return;")]),
            "session =": Wrap("import numpy as np, onnxc\nprompt, next_id = np.array([[1, 2, 3]]), np.array([[4]])\n"),
        }),
    "docs/tuning.md": Page(files={"model.onnx": DIGITS}, not_run={"^bench": MEASURES}, long=["^onnxc (tune|bench)", "--tune"]),
    "docs/verifying.md": Page(
        files={"model.onnx": DIGITS}, varies=["^onnxc verify"], long=["^onnxc verify model.onnx"],
        shown={"onnxc_add_model": "a call of CMake; tests/downstream makes it"}),
}
