// Mutants of models: small changes after which most are still read, and some are still valid.
#pragma once
#include <random>

#include "onnx/onnx_pb.h"

namespace onnxc::fuzz {

/// Makes one to four changes: to nodes, their inputs and attributes, to tensors, types, names, opsets, functions and graphs inside of graphs.
void mutate(onnx::ModelProto& model, std::minstd_rand& random);

/// Takes some nodes of `donor`, with the tensors that they read, and lets them read values of `model` or the other way round.
void cross_over(onnx::ModelProto& model, const onnx::ModelProto& donor, std::minstd_rand& random);

}  // namespace onnxc::fuzz
