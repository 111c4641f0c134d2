// Listens to WAV files and says which of ten words it hears: keyword yes.wav ... The same on a board and on a computer (platform.h).
//
// The files are read as a microphone would give them, 20 ms at a time, so they may be of any length. Every 100 ms the model looks at the
// last second.
#include <algorithm>
#include <array>
#include <cstring>

#include "features.hpp"
#include "keyword.h"  // by onnxc
#include "platform.h"

namespace {

constexpr std::array<const char*, 12> kLabels = {"yes", "no",  "up",   "down", "left",           "right",
                                                 "on",  "off", "stop", "go",   "(another word)", "(silence)"};
constexpr std::size_t kWords = 10;
constexpr std::size_t kHopsBetweenRuns = 5;
constexpr float kSure = 0.7F;     // the score from which a run counts
constexpr std::size_t kRuns = 3;  // how many such runs make a word

// All the memory there is, beside the stack.
features::Listener listener;
alignas(keyword::arena_alignment) std::byte arena[keyword::arena_bytes];

void put_number(std::uint32_t value, std::size_t digits = 1) {
  char text[11] = {};
  std::size_t at = 10;
  for (; value != 0 || 10 - at < digits; value /= 10) text[--at] = static_cast<char>('0' + value % 10);
  platform::put(text + at);
}
void put_hundredths(std::uint32_t value) {
  put_number(value / 100);
  platform::put(".");
  put_number(value % 100, 2);
}

/// Reads up to the samples of a WAV file; false if it is none of 16 kHz, one channel and 16 bits.
bool find_samples(int file, std::size_t& samples) {
  const auto field = [file](auto& value) { return platform::read(file, std::as_writable_bytes(std::span(&value, 1))); };
  struct {
    char riff[4];
    std::uint32_t bytes;
    char wave[4];
  } head;
  struct {
    std::uint16_t form, channels;
    std::uint32_t rate, bytes_a_second;
    std::uint16_t bytes_a_sample, bits;
  } format{};
  struct {
    char name[4];
    std::uint32_t bytes;
  } chunk;
  if (!field(head) || std::memcmp(head.riff, "RIFF", 4) != 0 || std::memcmp(head.wave, "WAVE", 4) != 0) return false;
  while (field(chunk)) {
    if (std::memcmp(chunk.name, "data", 4) == 0) {
      samples = chunk.bytes / 2;
      return format.form == 1 && format.channels == 1 && format.rate == features::kRate && format.bits == 16;
    }
    const bool is_format = std::memcmp(chunk.name, "fmt ", 4) == 0 && chunk.bytes >= sizeof format;
    if (is_format && !field(format)) return false;
    char skipped;
    for (std::size_t i = is_format ? sizeof format : 0; i < chunk.bytes + chunk.bytes % 2; ++i)
      if (!field(skipped)) return false;
  }
  return false;
}

/// What was heard in the last runs: a word is one that several runs in a row are sure of.
class Words {
 public:
  explicit Words(const char* path) : path_(path) {}

  /// Scores of a run after so many hops of the file.
  void add(std::span<const float, kLabels.size()> scores, std::size_t hops) {
    const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (best != word_ || scores[best] < kSure) end();
    if (best >= kWords || scores[best] < kSure) return;
    word_ = best;
    ++runs_;
    if (scores[best] > score_) score_ = scores[best], hops_ = hops;
  }

  /// Says the word, now that its runs are over.
  void end() {
    if (runs_ >= kRuns) {
      platform::put(path_);
      platform::put("  ");
      put_hundredths(static_cast<std::uint32_t>(hops_ * (features::kHop * 100 / features::kRate)));
      platform::put(" s  ");
      platform::put(kLabels[word_]);
      platform::put(" ");
      put_hundredths(static_cast<std::uint32_t>(score_ * 100 + 0.5F));
      platform::put("\n");
    }
    runs_ = 0, score_ = 0;
  }

 private:
  const char* path_;
  std::size_t word_ = kLabels.size(), runs_ = 0, hops_ = 0;
  float score_ = 0;
};

/// The most instructions that each has taken.
std::uint32_t features_took = 0, model_took = 0;

/// Listens to a file to its end. Returns what is wrong with it, or null.
const char* listen(const char* path) {
  const int file = platform::open(path);
  if (file < 0) return "cannot be opened";
  const char* error = nullptr;
  std::size_t samples = 0;
  if (!find_samples(file, samples)) error = "is no WAV file of 16 kHz, one channel and 16 bits";
  listener.forget();
  Words words(path);
  for (std::size_t hops = 1; error == nullptr && samples > 0; ++hops) {
    std::array<std::int16_t, features::kHop> hop{};
    const std::size_t count = std::min(samples, hop.size());
    if (!platform::read(file, std::as_writable_bytes(std::span(hop).first(count)))) error = "ends too early";
    samples -= count;

    platform::count_from_here();
    listener.hear(hop);
    features_took = std::max(features_took, platform::counted());
    if (hops % kHopsBetweenRuns != 0) continue;

    std::array<float, kLabels.size()> scores;
    platform::count_from_here();
    if (const onnxc::Status status = keyword::run({.features = listener.frames()}, {.scores = scores}, arena))
      error = onnxc::describe(status);
    model_took = std::max(model_took, platform::counted());
    words.add(scores, hops);
  }
  words.end();
  platform::close(file);
  return error;
}

}  // namespace

int listen_to(std::span<const char* const> paths) {
  for (const char* path : paths) {
    if (const char* error = listen(path)) {
      platform::put(path);
      platform::put(": ");
      platform::put(error);
      platform::put("\n");
      return 1;
    }
  }
  if (model_took != 0) {
    platform::put("instructions: features ");
    put_number(features_took);
    platform::put(" every 20 ms, model ");
    put_number(model_took);
    platform::put(" every 100 ms; stack: ");
    put_number(static_cast<std::uint32_t>(platform::stack_used()));
    platform::put(" bytes\n");
  }
  return 0;
}
