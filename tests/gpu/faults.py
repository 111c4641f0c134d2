"""Plants one fault after the other in a copy of the runtime's headers, and asks whether a test of the kernels sees it.

    faults.py [--few] [--main OBJECT] [TEST...]      OBJECT: Catch2's main program, which takes longest to compile

A fault is an exact text of a header and what stands in its place. The text must be there once: a list that kernels have left behind is an
error. The same test must pass with sound headers, and a fault must compile, so that it is the fault which makes a test fail. Accesses that
are not aligned end the program, as a GPU would end it.

Exit code: 1 if a fault was not seen, 2 if the list does not fit the kernels.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPU = "runtime_stub/onnxc/gpu"
SECONDS = 600  # of a compiler's run, and of a test's
COMPILER = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-march=native", "-w", "-pthread", "-fsanitize=alignment", "-fno-sanitize-recover=all"]


@dataclass
class Fault:
    what: str
    test: str  # of tests/kernels/gpu
    header: str  # of runtime_stub/onnxc/gpu
    text: str
    planted: str
    few: bool = False


FAULTS = [
    # Products: product.hpp, product_tile.hpp
    Fault("one stage too few is waited for", "gemm", "product_tile", "wait<kStages - 2>();", "wait<kStages - 1>();"),
    Fault("no barrier before a stage is read", "gemm", "product_tile", "wait<kStages - 2>();\n    sync_block();", "wait<kStages - 2>();"),
    Fault("the last stage of k is not fetched", "gemm", "product_tile", "if (stage + kStages - 1 < last)", "if (stage + kStages < last)"),
    Fault("half of each stage of k is skipped", "gemm", "product_tile", "for (int half = 0; half < 2; ++half)", "for (int half = 0; half < 1; ++half)"),
    Fault("chunks of odd rows are written where they are not read", "gemm", "product", "(chunk ^ (own & 1) * 4) * 4", "chunk * 4"),
    Fault("what lies behind the end of k is not zero", "gemm", "product", "const bool inside = word < size.words;", "const bool inside = true;"),
    Fault("columns behind the last one are stored", "gemm", "product", "if (row >= rows || col >= cols) continue;", "if (row >= rows) continue;"),
    Fault("pairs are stored where they are not aligned", "gemm", "product", "if (paired) {", "if (true) {"),
    Fault("the epilogue reads rows of the first matrix", "gemm", "product", "epilogue_row = z * size.row_step + first_row", "epilogue_row = first_row"),
    Fault("the right side moves by the wrong step", "gemm", "product", "outer * batches.b_outer + first_col", "outer * batches.b_inner + first_col"),
    Fault("the first part of k is added twice", "gemm", "product", "for (int s = 1; s < size.splits; ++s)", "for (int s = 0; s < size.splits; ++s)"),
    Fault("a ticket is drawn without a fence", "gemm", "product", "fence();\n    sync_block();\n    if (thread() == 0) shared.ticket",
          "sync_block();\n    if (thread() == 0) shared.ticket"),
    Fault("a ticket is drawn before all of the block wrote", "gemm", "product", "fence();\n    sync_block();\n    if (thread() == 0) shared.ticket",
          "fence();\n    if (thread() == 0) shared.ticket"),
    Fault("tickets are not given back", "gemm", "product", "if (thread() == 0) tickets[tile] = 0;", ""),
    Fault("a tile may be overwritten before all have read it", "exact", "exact_product", "both sides are zeros\n      sync_block();", "both sides are zeros"),
    Fault("rows behind the last one are stored", "exact", "exact_product", "if (row >= size.m || col >= size.n) continue;", "if (col >= size.n) continue;"),
    # Products of few rows
    Fault("sums of the first warp count twice", "gemv", "gemv", "for (int w = 1; w < kWarps; ++w)", "for (int w = 0; w < kWarps; ++w)"),
    Fault("lanes exchange halves with the wrong lane", "gemv", "gemv", "return add_lanes<N / 2, kMask / 2>(half);", "return add_lanes<N / 2, kMask>(half);"),
    Fault("no barrier between warps", "gemv", "gemv", "sums[warp()][lane() / kLanes] = sum;\n    sync_block();", "sums[warp()][lane() / kLanes] = sum;"),
    Fault("zero points that are no integers are rounded", "gemv_nbits", "gemv_nbits", "if constexpr (kIsFloat) return", "if constexpr (false) return"),
    Fault("codes of a word are in the order of big-endian machines", "gemv_nbits", "gemv_nbits", "words[i / kPerWord]) >> i % kPerWord * kBits",
          "words[i / kPerWord]) >> (kPerWord - 1 - i % kPerWord) * kBits"),
    Fault("scales are those of the first block", "gemv_nbits", "gemv_nbits", "of.scales[column * of.blocks_of_column + number]", "of.scales[column * of.blocks_of_column]"),
    Fault("rows behind the first ones read these", "gemv_nbits", "gemv_nbits", "return a + min_of(row, p.m - 1) * p.k;", "return a + min_of(row % kRows, p.m - 1) * p.k;"),
    Fault("a last part of k counts as a whole one", "gemv_nbits", "gemv_nbits", "by_packs ? length / kAtOnce * kAtOnce : 0;", "by_packs ? length : 0;"),
    Fault("rows are read by 16 bytes where they are not aligned", "gemv_nbits", "gemv_nbits", "p.k % 4 == 0 && reinterpret_cast<std::uintptr_t>(a) % 16 == 0;", "p.k % 4 == 0;"),
    Fault("no barrier between warps of a product of few bits", "gemv_nbits", "gemv_nbits", "= sum;\n    sync_block();", "= sum;"),
    # Convolutions
    Fault("windows wrap around at the sides of an image", "conv", "conv",
          "static_cast<unsigned>(row.y + place.y) < static_cast<unsigned>(h) &&\n            static_cast<unsigned>(row.x + place.x) < static_cast<unsigned>(w);",
          "static_cast<unsigned>(row.y + place.y) < static_cast<unsigned>(h);"),
    Fault("rows of a tile stay in the first image", "conv", "conv", "static_cast<uint32_t>(number) * image + static_cast", "static_cast"),
    Fault("outside of an image of bytes there are zeros", "conv", "conv", "return outside;", "return 0;"),
    Fault("the epilogue reads columns of the first group", "conv", "conv", ".col_step = group_out,", ".col_step = 0,"),
    Fault("pixels to the right of an image are read", "conv_depthwise", "conv_depthwise", "if (inside && ix >= 0 && ix < p.w)", "if (inside && ix >= 0)"),
    Fault("outputs behind the end of a row are stored", "conv_depthwise", "conv_depthwise", "if (ox + o < p.ow) finish", "finish"),
    # Attention
    Fault("no barrier before keys are read", "attention", "attention", "wait<0>();\n      sync_block();", "wait<0>();"),
    Fault("keys behind the last one have scores", "attention", "attention", "s = at < seen ? head.score(scores, s * p.scale, i, at) : -INFINITY;", "s = s * p.scale;"),
    Fault("a row's sum is not scaled when a larger score comes", "attention", "attention", "total[r] *= shrink[r];", ""),
    Fault("a row's sum is added over the wrong lanes", "attention", "attention", "total[r] += shuffle_xor(total[r], 2);", "total[r] += shuffle_xor(total[r], 4);"),
    Fault("heads that share keys read those behind them", "attention", "attention_params", "shared = number / p.shared_heads;", "shared = number;"),
    Fault("what a part of the keys left is read before it is there", "attention", "attention", "sync_block();\n    if (part() > 0) return false;", "if (part() > 0) return false;"),
    Fault("what a part of the keys left is written over keys", "attention", "attention", "sync_block();  // the last keys were read", ""),
    Fault("a part of the keys is left out", "attention", "attention", "for (int of = 1; of < kParts; ++of)", "for (int of = 2; of < kParts; ++of)"),
    Fault("scores read their operands for the first head", "attention", "attention_params", "batch * form.batch + number * form.head +", "batch * form.batch +"),
    Fault("a query that is cleared has probabilities", "attention", "attention", "if (nothing) {", "if (false) {"),
    Fault("the first part of the keys is lost", "attention", "attention_decode", "for (int64_t s = 0; s < p.splits; ++s)", "for (int64_t s = 1; s < p.splits; ++s)"),
    Fault("a ticket of a query is drawn without a fence", "attention", "attention_decode", "fence();\n    sync_block();\n    if (thread() == 0) shared.ticket",
          "sync_block();\n    if (thread() == 0) shared.ticket"),
    # Copies
    Fault("columns of a turned tile are stored behind the last one", "rows", "copy_strided", "if (column + near < columns && at < rows)", "if (at < rows)"),
    Fault("a turned tile is read before all wrote it", "rows", "copy_strided", "x[from + at * x_column + row + near];\n    }\n    sync_block();",
          "x[from + at * x_column + row + near];\n    }"),
    Fault("a turned tile is overwritten before all read it", "rows", "copy_strided", "sync_block();  // before the tile is written again", ""),
    Fault("16 bytes are copied from where they are not aligned", "rows", "copy_strided", " && reinterpret_cast<std::uintptr_t>(x) % 16 == 0;", ";"),
    Fault("rows whose steps are no runs are copied by runs", "rows", "copy_strided", "&& plan.strides.x[axis] % kRun == 0;", ";"),
    Fault("what lies behind the end of packed rows is not zero", "pack_rows", "pack_rows", "row < p.rows && k < p.k ?", "row < p.rows ?"),
    Fault("packed rows are read behind their end", "pack_rows", "pack_rows", "if (first + i < p.k) out", "out"),
    Fault("a tile to pack is read before all wrote it", "pack_rows", "pack_rows", "k * p.from_k] : T{};\n      }\n      sync_block();", "k * p.from_k] : T{};\n      }",
          few=True),
    Fault("a tile to pack is overwritten before all read it", "pack_rows", "pack_rows", "sync_block();  // before the next tile lies there", ""),
    # Rows and elements picked by indices
    Fault("negative indices count from the last row on", "gather", "gather", "given = static_cast<int64_t>(tuple[k]), index = given < 0 ? given + n : given;",
          "given = static_cast<int64_t>(tuple[k]), index = given < 0 ? given + n - 1 : given;"),
    Fault("the index behind the last one is taken", "gather", "gather", "      if (index < 0 || index >= n) {", "      if (index < 0 || index > n) {"),
    Fault("batches read the indices of the first one", "gather", "gather", "p.indices_batch = p.tuples * width;", ""),
    Fault("16 bytes are picked from where they are not aligned", "gather", "gather", " || !fits(y) || !fits(x))", ")"),
    Fault("rows are cut to whole accesses", "gather", "gather", " || p.row_bytes % kBytes != 0 ||", " ||"),
    Fault("offsets in 32 bits do not fit", "gather", "gather", "is_short = is_short && p.extents[k] <= kMost;", "(void)k;\n  is_short = true;"),
    Fault("items that follow in a thread are left out", "gather", "gather", "i < items; i += step)", "i < items; i += items)"),
    Fault("elements behind the end of a narrower line are those of x", "gather", "gather", "k - 1 != picked && extent == x.shape[k]", "k - 1 != picked"),
    Fault("of several updates of a place any one counts", "scatter", "scatter", "if (at >= 0 && owners[at] == static_cast<unsigned>(j) + 1)", "if (at >= 0)"),
    Fault("places begin with an owner", "scatter", "scatter", "gpu.clear(owners, static_cast<std::size_t>(places) * sizeof(unsigned));", ""),
    Fault("updates of no place own the first one", "scatter", "scatter", "if (at < 0) fetch_max(status, targets.code());", "if (at < 0) fetch_max(owners, 1u);"),
    Fault("what is not placed is not copied", "scatter", "scatter", "if (y.data != x.data && x.count() > 0)", "if (y.data == x.data)"),
    Fault("16 bytes are placed where they are not aligned", "scatter", "scatter", " || !fits(y) || !fits(updates))", ")"),
    # Elementwise expressions, rows and windows
    Fault("runs are taken where rows do not begin at them", "rows", "map", "if (x.outer[axis] % kCount != 0) return false;", ""),
    Fault("runs lie as if they were elements", "rows", "map", "(i - row * length.divisor()) * kCount;", "i - row * length.divisor();"),
    Fault("combinations begin at 0", "rows", "reduce", "float all = Combine::template start<float>;", "float all = 0;"),
    Fault("half of the lines are left out", "rows", "reduce", "for (int half = kLines / 2;", "for (int half = kLines / 4;"),
    Fault("lines are combined before all were", "rows", "reduce", "partial[warp() + half][lane()]);\n        sync_block();", "partial[warp() + half][lane()]);"),
    Fault("rows that follow in a warp are left out", "rows", "softmax", "const int64_t step = int64_t{blocks().x} * kWarps;",
          "const int64_t step = int64_t{blocks().x} * kThreads;"),
    Fault("a row's largest value begins at 0", "rows", "softmax", "float v[kItems], top = detail::kLowest,", "float v[kItems], top = 0,"),
    Fault("a row in place is read after it was written", "rows", "softmax", "sum += fn::exp(from[i] - top);", "sum += to[i] = fn::exp(from[i] - top);"),
    Fault("the mean is that of the sums of warps", "rows", "norm", "shared.partial, detail::Added{}) / count;", "shared.partial, detail::Added{}) / 8;"),
    Fault("pads count as values", "rows", "pool", "return inside > 0 ? inside : 1;", "return p.kh * p.kw;"),
    Fault("the largest of a window begins at 0", "rows", "pool", "kAverage ? 0.0f : -std::numeric_limits<float>::infinity();", "0.0f;"),
    # Sums of bytes
    Fault("more bytes are added up than two of a word have room for", "sum_bytes", "sum_bytes", "kMost = 257;", "kMost = 258;"),
    Fault("bytes behind the last whole word are left out", "sum_bytes", "sum_bytes", "if (mine < p.r - after) all += row[after + mine];", ""),
    Fault("words of a row begin where it does", "sum_bytes", "sum_bytes", "off = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % 4);", "off = 0;"),
    Fault("columns behind the last one are read as a word", "sum_bytes", "sum_bytes", "if (kBytes == 4 && valid == 4) {", "if (kBytes == 4) {"),
    Fault("columns are added up before all lines are there", "sum_bytes", "sum_bytes", "shared);\n      sync_block();", "shared);"),
    Fault("lines are overwritten before their columns were added up", "sum_bytes", "sum_bytes", "sync_block();  // before the next tile's sums lie there", ""),
    # Windows of bytes
    Fault("bytes borrow from their neighbours", "pool_bytes", "pool_bytes", "(a | kTops) - (b & ~kTops)", "a - b"),
    Fault("signed bytes compare as if they had no sign", "pool_bytes", "pool_bytes", "std::is_signed_v<T> ? kTops : 0;", "0;"),
    Fault("all of a last word is stored", "pool_bytes", "pool_bytes", "if (valid >= kBytes) {", "if (true) {"),
    Fault("words are read from where they are not aligned", "pool_bytes", "pool_bytes", "p.x_pixel % 4 == 0 && p.y_pixel % 4 == 0", "p.y_pixel % 4 == 0"),
    Fault("taps to the left of an image read the row before", "pool_bytes", "pool_bytes", "if (ix >= 0 && ix < of(p.w))", "if (ix < of(p.w))"),
    # Combinations of lanes
    Fault("half of the lanes are left out", "words", "device", "for (int mask = 16; mask > 0;", "for (int mask = 8; mask > 0;", few=True),
    Fault("sums of warps are overwritten before all read them", "words", "device", "ONNXC_SYNC_BLOCK;  // `partial` may still be read", "", few=True),
]


def fail(said):
    print(said, flush=True)
    sys.exit(2)


def run(command):
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        fail(f"no end after {SECONDS} s: {' '.join(map(str, command))}")


class Workplace:
    """A folder where tests are compiled. What Catch2 has in its headers is compiled once."""

    def __init__(self, folder, catch_main):
        self.folder = Path(folder)
        shutil.copytree(ROOT / "runtime_stub", self.folder / "sound")
        (self.folder / "catch.hpp").write_text("#include <catch2/catch.hpp>\n#include <random>\n#include <vector>\n")
        self.compile("-x", "c++-header", self.folder / "catch.hpp", "-o", self.folder / "catch.hpp.gch")
        self.main = catch_main or self.folder / "main.o"
        if not catch_main:
            self.compile("-c", "tests/catch_main.cpp", "-o", self.main)

    def compile(self, *arguments):
        done = run([*COMPILER, *arguments])
        if done.returncode != 0:
            fail(f"does not compile: {arguments}\n{done.stderr[:4000]}")

    def tested(self, headers, test):
        """How the test's program ends, with these headers."""
        program = self.folder / "test"
        self.compile("-include", self.folder / "catch.hpp", "-I.", "-I", headers, f"tests/kernels/gpu/{test}.cpp", self.main, "-o", program)
        return run([program, "--abort"])

    def planted(self, fault):
        """The folder of headers that have the fault."""
        folder = self.folder / "faulty"
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(self.folder / "sound", folder)
        header = folder / "onnxc/gpu" / f"{fault.header}.hpp"
        header.write_text(header.read_text().replace(fault.text, fault.planted))
        return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--main", type=Path)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    for fault in FAULTS:
        count = (ROOT / GPU / f"{fault.header}.hpp").read_text().count(fault.text)
        if count != 1:
            fail(f"{GPU}/{fault.header}.hpp has {count} times what is one place of '{fault.what}':\n{fault.text}")
    chosen = [f for f in FAULTS if (f.few or not options.few) and (not options.tests or f.test in options.tests)]
    if not chosen:
        fail("no faults of these tests")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(folder, options.main)
        for test in dict.fromkeys(f.test for f in chosen):
            sound = place.tested(place.folder / "sound", test)
            if sound.returncode != 0:
                fail(f"{test} fails without a fault:\n{sound.stdout[-2000:]}{sound.stderr[-2000:]}")
            for fault in (f for f in chosen if f.test == test):
                done = place.tested(place.planted(fault), test)
                missed += done.returncode == 0
                print(f"  {test + ', ' + fault.header + ':':<34} {fault.what:<58} {'NOT SEEN' if done.returncode == 0 else 'ended' if done.returncode < 0 else 'seen'}",
                      flush=True)
    print(f"{len(chosen)} faults, {missed} of them not seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
