// The product whose inner loop tests/cross/inner_loops.py reads. It is deep enough for the compiler to make a loop of
// it; those of the samples are not.
#include <onnxc/gemm.hpp>

void product(const float* a, const float* b, float* c, onnxc::GemmParams p) { onnxc::gemm<8, 2>(onnxc::Share{}, a, b, c, p); }
