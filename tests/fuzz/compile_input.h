// What the programs of this folder do with an input: all that onnxc does with a file, up to the text of the unit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace onnxc::fuzz {

/// Calls it. An Error that a user may meet is an answer; one of kind Internal, or any other exception, ends the program with a report.
void expect_answer(const std::function<void()>& call);

/// Compiles the bytes as a file of a model, with options that are drawn by a hash of the bytes: level, target, what memory costs, mathematics, threads.
void compile_model_bytes(std::span<const uint8_t> bytes);

/// The same from the graph's text, which is checked, optimised, and printed and read again.
void compile_graph_text(std::string_view text);

}  // namespace onnxc::fuzz
