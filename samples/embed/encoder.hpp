// Sentences as vectors: tokenizer, compiled model, mean of what the model gives for each piece, length 1.
//
// For another uncased BERT with such an output change the two numbers below, embed.onnx and vocab.txt. Some exports have no token_type_ids;
// that input is left out then.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embed.h"  // by onnxc
#include "wordpiece.hpp"

class Encoder {
 public:
  static constexpr std::size_t kWidth = 64;    // of the model's vectors
  static constexpr std::size_t kMaxIds = 128;  // the model's positions; what is longer is cut off

  explicit Encoder(std::string_view vocabulary) : tokenizer_(vocabulary) {}

  /// A row of kWidth numbers for each sentence, of length 1: the product of two rows is their cosine similarity.
  std::vector<float> vectors(std::span<const std::string> sentences) {
    std::vector<float> rows;
    for (std::size_t first = 0; first < sentences.size(); first += kBatch) {
      const std::vector<float> more = batch(sentences.subspan(first, std::min(kBatch, sentences.size() - first)));
      rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
  }

 private:
  static constexpr std::size_t kBatch = 16;  // sentences in a run, which bounds its memory

  std::vector<float> batch(std::span<const std::string> sentences) {
    std::vector<std::vector<std::int64_t>> ids;
    std::size_t longest = 0;
    for (const std::string& sentence : sentences) {
      ids.push_back(tokenizer_.encode(sentence, kMaxIds));
      longest = std::max(longest, ids.back().size());
    }
    const std::size_t n = sentences.size();
    // The model gives what is padded no attention, so any number may stand there: 0, which BERT's vocabularies call [PAD].
    std::vector<std::int64_t> padded(n * longest), mask(n * longest);
    const std::vector<std::int64_t> types(n * longest);  // all pieces belong to a first sentence
    for (std::size_t i = 0; i < n; ++i) {
      std::copy(ids[i].begin(), ids[i].end(), padded.data() + i * longest);
      std::fill_n(mask.data() + i * longest, ids[i].size(), 1);
    }

    std::vector<float> hidden(n * longest * kWidth);
    const embed::Dims dims{.batch = static_cast<std::int64_t>(n), .sequence = static_cast<std::int64_t>(longest)};
    if (const onnxc::Status status = embed::run(dims, {.input_ids = padded, .attention_mask = mask, .token_type_ids = types},
                                                {.last_hidden_state = hidden}, arena(dims))) {
      throw std::runtime_error(onnxc::describe(status));
    }

    std::vector<float> rows(n * kWidth);
    for (std::size_t i = 0; i < n; ++i) {
      float* const row = rows.data() + i * kWidth;
      for (std::size_t k = 0; k < ids[i].size(); ++k) {
        for (std::size_t d = 0; d < kWidth; ++d) row[d] += hidden[(i * longest + k) * kWidth + d];
      }
      float squares = 0;
      for (std::size_t d = 0; d < kWidth; ++d) squares += row[d] * row[d];
      for (std::size_t d = 0; d < kWidth; ++d) row[d] /= std::sqrt(squares);
    }
    return rows;
  }

  /// Memory for a run, kept for the next.
  std::span<std::byte> arena(const embed::Dims& dims) {
    const std::size_t alignment = embed::arena_alignment, needed = embed::arena_bytes(dims);
    if (needed > bytes_) {
      bytes_ = (needed + alignment - 1) / alignment * alignment;
      arena_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes_)));
      if (arena_ == nullptr) throw std::bad_alloc();
    }
    return {arena_.get(), bytes_};
  }

  wordpiece::Tokenizer tokenizer_;
  std::unique_ptr<std::byte, decltype(&std::free)> arena_{nullptr, &std::free};
  std::size_t bytes_ = 0;
};
