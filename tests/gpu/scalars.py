#!/usr/bin/env python3
"""Writes a CUDA unit in which each line of scalars.list is a kernel, for each of its types.

    scalars.py ROOT LIST UNIT [ROW...]

First it compares the list with the catalogue of ROOT: each row that may run on a GPU is in the list and the other way around, and a row is divisible
exactly where its call ends with the share.
"""
import itertools
import re
import sys
from pathlib import Path

INTEGERS = ["uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t", "int64_t"]
FLOATS = ["float", "double", "float16", "bfloat16"]
SMALLEST = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]
PACKED = ["onnxc::int4", "onnxc::uint4", "onnxc::int2", "onnxc::uint2", "float4e2m1"]  # CUDA has int4 and its like, too
STORED = PACKED + ["float8e8m0"]
SCALAR = FLOATS + INTEGERS + ["bool"] + SMALLEST
TYPES = {
    "index": ["int32_t", "int64_t"],
    "code": ["uint8_t", "int8_t"],
    "real": ["float", "double"],
    "float": FLOATS,
    "number": FLOATS + INTEGERS,
    "scalar": SCALAR,
    "stored": STORED,
    "element": SCALAR + STORED,
    "moved": SCALAR + STORED + ["complex64", "complex128"],
    "key": ["int64_t", "int32_t", "int16_t", "float", "double"],
    "value": ["float", "double", "int16_t", "int8_t", "int32_t", "int64_t"],
    "feature": ["float", "double", "int32_t", "int64_t"],
    "packed": PACKED,
    "byte": ["uint8_t", "int8_t", "bool"] + SMALLEST,
    "half": ["uint16_t", "int16_t", "float16", "bfloat16"],
    "word": ["uint32_t", "int32_t", "float"],
    "long": ["uint64_t", "int64_t", "double"],
    "combine": ["Sum", "Product", "Max", "Min"],
    "prologue": ["Same", "Magnitude", "Square"],  # and Exponential, of floats
}
HEAD = """// Made by tests/gpu/scalars.py.
{includes}

using namespace onnxc;

/// What expressions may do with values of one type.
struct Functions {{
  template <class L, class T>
  static ONNXC_BOTH T apply(L, T x, T w, T z) {{
    if constexpr (std::is_same_v<T, bool>) {{
      return fn::where(fn::logical_or(x, w), fn::logical_and(x, z), fn::logical_not(fn::logical_xor(w, z)));
    }} else {{
      T v = fn::clip(fn::add(fn::mul(x, w), fn::sub(x, z)), fn::min(w, z), fn::max(w, z));
      v = fn::where(fn::less(x, w), fn::div(v, z), fn::add(fn::mod(v, w), fn::fmod(v, z)));
      v = fn::add(fn::add(fn::abs(v), fn::relu(x)), fn::where(fn::equal(x, z), v, fn::pow(w, z)));
      if constexpr (fn::integer<T>) {{
        v = fn::bit_xor(fn::bit_and(v, x), fn::bit_or(fn::bit_not(v), fn::add(fn::shift_left(x, w), fn::shift_right(x, w))));
        v = fn::add(v, fn::quantize<T>(fn::cast<float>(x), fn::cast<float>(w), 1.0f));
      }} else {{
        v = fn::add(fn::add(fn::neg(v), fn::sign(x)), fn::add(fn::ceil(x), fn::add(fn::floor(w), fn::round(z))));
        v = fn::add(v, fn::add(fn::sqrt(x), fn::add(fn::exp(w), fn::log(z))));
        v = fn::add(v, fn::add(fn::sin(x), fn::add(fn::cos(w), fn::tan(z))));
        v = fn::add(v, fn::add(fn::asin(x), fn::add(fn::acos(w), fn::atan(z))));
        v = fn::add(v, fn::add(fn::sinh(x), fn::add(fn::cosh(w), fn::tanh(z))));
        v = fn::add(v, fn::add(fn::asinh(x), fn::add(fn::acosh(w), fn::atanh(z))));
        v = fn::add(v, fn::add(fn::erf(x), fn::add(fn::reciprocal(w), fn::sigmoid(z))));
        v = fn::add(v, fn::add(fn::softplus(x), fn::gate(w, z)));
        if (fn::logical_or(fn::is_nan(x), fn::logical_or(fn::is_inf(w), fn::is_pos_inf(z)))) return z;
      }}
      return v;
    }}
  }}
}};
template <class T>
struct CastTo {{
  template <class L, class X>
  static ONNXC_BOTH T apply(L, X x) {{
    if constexpr (std::is_same_v<T, float8e8m0>) {{
      if (fn::greater(x, X{{}})) return fn::cast_special_nearest<T>(x);
      return fn::cast_down<T>(x);
    }} else if constexpr (small_float<T> && sizeof(T) == 1) {{
      if (fn::is_nan(fn::cast<float>(x))) return fn::cast_special<T>(x);
    }}
    return fn::cast<T>(x);
  }}
}};

/// Memory and numbers of which the compiler knows nothing.
struct Unknown {{
  void* memory[5];
  Shape shape[5];
  Ints integers;
  int64_t numbers[8];
  int32_t* code;
}};
/// Gives a name to what calls in scalars.list use.
struct Call {{
  const Unknown& all;
  Share share;
#define MEMORY(name, i, constness)                                                    \\
  template <class T>                                                                  \\
  __device__ constness T* name() const {{                                              \\
    return static_cast<constness T*>(all.memory[i]);                                  \\
  }}                                                                                   \\
  template <class T>                                                                  \\
  __device__ Tensor<constness T> t##name() const {{                                    \\
    return {{name<T>(), all.shape[i]}};                                                 \\
  }}
#define MUTABLE
  MEMORY(y, 0, MUTABLE)
  MEMORY(v, 1, MUTABLE)
  MEMORY(x, 2, const)
  MEMORY(w, 3, const)
  MEMORY(z, 4, const)
  __device__ int64_t n(int i) const {{ return all.numbers[i]; }}
  __device__ const Shape& s() const {{ return all.shape[0]; }}
  __device__ const Ints& i() const {{ return all.integers; }}
  __device__ scalar::RecurrentParams recurrent() const {{
    scalar::RecurrentParams p{{n(0), n(1), n(2), n(3)}};
    for (int k = 0; k < 6; ++k) p.activations[k] = {{static_cast<scalar::Activation>(n(4)), 0.5, 0.25}};
    p.scales = z<float>();
    p.zeros = z<int32_t>();
    p.linear_before_reset = n(5) > 0;
    return p;
  }}
  __device__ scalar::Svm svm() const {{
    return {{static_cast<scalar::SvmKernel>(n(3)), 0.5f, 0.5f, 2.0f, w<float>(), n(4), z<float>(), z<float>()}};
  }}
  template <class T>
  __device__ scalar::Forest<T> forest() const {{
    return {{w<int32_t>(), z<T>(), w<int32_t>(), n(5), w<int32_t>(), z<T>(), z<T>(), n(6)}};
  }}
  template <class Work>
  __device__ void run(Work work) const {{
    if constexpr (std::is_void_v<decltype(work())>) work();
    else if (const Status status = work()) *all.code = status.code;
  }}
}};
"""
KERNEL = """
__global__ void kernel_{number}(Unknown all) {{  // {row}{types}
  struct Here : Call {{
    __device__ void operator()() const {{
      run([&] {{ return {call}; }});
    }}
  }};
  Here{{{{all, Share{{static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), static_cast<int>(gridDim.x * blockDim.x)}}}}}}();
}}
"""


def catalogue(root):
    """row: (header, whether it is divisible) of the rows for any device."""
    rows = {}
    for path in sorted(Path(root, "targets/kernels").glob("*.inc")):
        for line in path.read_text().splitlines():
            if line.startswith("ONNXC_KERNEL(") and ".runs_on = RunsOn::Any" in line:
                field = lambda name: re.search(rf'\.{name} = "([^"]*)"', line).group(1)
                rows[field("name")] = (field("header"), ".divisible = true" in line)
    return rows


def combinations(kinds, every):
    """All combinations, or those in which all types but one are the first of their kind."""
    firsts = [kind[0] for kind in kinds]
    if every or not kinds:
        return list(itertools.product(*kinds))
    return [tuple(firsts)] + [tuple(firsts[:i] + [t] + firsts[i + 1 :]) for i, kind in enumerate(kinds) for t in kind[1:]]


root, list_path, unit, *wanted = sys.argv[1:]
rows = catalogue(root)
lines = [[part.strip() for part in line.split("|", 2)] for line in Path(list_path).read_text().splitlines() if line and not line.startswith("#")]
faults = [f"{row}: not in {list_path}" for row in rows if row not in {line[0] for line in lines}]
for row, _, call in lines:
    if row not in rows:
        faults.append(f"{row}: the catalogue has no such row for any device")
    elif rows[row][1] != call.endswith(", share)"):
        faults.append(f"{row}: is {'' if rows[row][1] else 'not '}divisible, against its call")
if faults:
    sys.exit("\n".join(faults))

headers = sorted({rows[row][0] for row, _, _ in lines})
text = [HEAD.format(includes="\n".join(f"#include <onnxc/{header}>" for header in headers))]
number = 0
for row, types, call in lines:
    if wanted and row not in wanted:
        continue
    words = types.split()
    names = [word.split("=") for word in words if word != "all"]
    for chosen in combinations([TYPES[kind] for _, kind in names], "all" in words):
        spelled = call
        for (name, kind), value in zip(names, chosen):
            spelled = re.sub(rf"\b{name}\b", value, spelled)
        described = "".join(f", {value}" for value in chosen)
        text.append(KERNEL.format(number=number, row=row, types=described, call=spelled))
        number += 1
Path(unit).write_text("".join(text))
print(f"{len({line[0] for line in lines if not wanted or line[0] in wanted})} rows, {number} kernels")
