"""What is changed and what is not, on lines of code; then three changes that must be noticed, and a run without one that must not be.

run.sh --few
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from check import line_at, made  # noqa: E402
from expectations import Expectations  # noqa: E402
from kernels import Kernels, Program  # noqa: E402
from mutants import sites  # noqa: E402
from workplace import ROOT, scratch  # noqa: E402

# Code, and what stands in the place of what: all sites of it, in order.
LINES = [
    ("if (a < b) x();", {"< -> <=", "< -> >=", "a < b -> !(a < b)", "x() -> "}),
    ("std::vector<int> f(const T* p, T& q, T&& r);", set()),
    ("template <class T, bool kTail = (1 < 2)> struct A;", set()),
    ("// a < b", set()),
    ("/* a < b */ const char* s = \"a < b\"; char c = '1';", set()),
    ('auto s = R"(a < b)";', set()),
    ("#if A < 1 && \\\n    B < 1\n", set()),
    ("static_assert(a < b && c == 0);", set()),
    ('ONNXC_CHECK(a < b, "what must hold");', set()),
    ("y = a < b ? a : b;", {"< -> >=", "y = a < b ? a : b -> "}),
    ("y = a < b ? a : c;", {"< -> <=", "< -> >=", "y = a < b ? a : c -> "}),
    ("y = -x;", {"y = -x -> "}),
    ("y = a - x;", {"- -> +", "y = a - x -> "}),
    ("y = *p * q;", {"* -> /", "y = *p * q -> "}),
    ("int64_t y = f(0);", {"0 -> 1"}),
    ("if (!a) continue;", {"! -> ", "!a -> !(!a)", "continue -> "}),
    ("return a && b;", {"&& -> ||"}),
    ("return min_of(a, b);", {"min_of -> max_of"}),
    ("return std::numeric_limits<T>::max();", {"max -> min"}),
    ("y = std::floor(x);", {"floor -> ceil", "y = std::floor(x) -> "}),
    ("for (i = 0; i != n; ++i) x();", {"0 -> 1", "!= -> ==", "x() -> "}),
    ("return x;", set()),
    ("return;", {"return -> "}),
    ("int table[3];", set()),
    ("[[unlikely]] x += 0x10;", {"+= -> -=", "+= -> ="}),
]
# A program of tests/kernels that must fail, the header, a line of it and the change.
PLANTED = [
    ("murmur_hash", "scalar/text/murmur_hash.hpp", "if (i % 4 != 3) continue;", "!=", "=="),
    ("murmur_hash", "scalar/text/murmur_hash.hpp", "h = (h ^ h >> 16) * 0x85ebca6bu;", "h = (h ^ h >> 16) * 0x85ebca6bu", ""),
    ("byte_table", "byte_table.hpp", "for (int64_t c = 0; c < p.columns; ++c) to[r * p.y_row + c]", "<", ">="),
]


def main():
    checks = Expectations("the changes that tests are tested with")
    for code, wanted in LINES:
        text = ";\n" + code + "\n;"
        found = {f"{text[s.begin:s.end]} -> {s.after}" for s in sites(text)}
        checks.expect(found == wanted, code, f"found {sorted(found)}")
    kernels = Kernels()
    for program, header, line, before, after in PLANTED:
        file = f"runtime_stub/onnxc/{header}"
        text = (ROOT / file).read_text()
        places = [s for s in sites(text) if line in line_at(text, s.begin) and (text[s.begin:s.end], s.after) == (before, after)]
        if checks.expect(places, f"{header} has '{line}'"):
            checks.expect(kernels.fails(Program(program, ("-march=native",)), made(file, text, places[0])), f"{program} sees that '{line}' has {after}")
    checks.expect(not kernels.fails(Program(PLANTED[0][0], ("-march=native",)), None), f"{PLANTED[0][0]} passes without a change")
    checks.end()


if __name__ == "__main__":
    main()
