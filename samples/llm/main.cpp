// A language model as one program: it continues a text.
//
//   llm "Once upon"
//   llm --tokens 100 --temperature 0 "The cat"
//   llm --bench
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bpe.hpp"
#include "decoder.hpp"
#include "llm.h"  // by onnxc
#include "onnxc/threads.hpp"
#include "sampler.hpp"
#ifdef LLM_WEIGHTS  // the file of --weights=file
#include "mapped.hpp"
#endif

namespace {

constexpr std::string_view kMerges =
#include "merges.inc"  // merges.txt as a string
    ;

constexpr const char* kUsage =
    "usage: llm [OPTION...] TEXT\n"
    "Continues the text, until the model ends it.\n"
    "  --tokens N        at most so many tokens (200)\n"
    "  --context N       room for so many tokens, with those of the text (1024)\n"
    "  --temperature T   0 takes the best token, 1 draws as the model says (0.8)\n"
    "  --top-k K         draws among the K best tokens; 0: among all (40)\n"
    "  --top-p P         draws among the best that have this much of the probability (0.95)\n"
    "  --penalty X       how much less likely tokens become that were there (1: not at all)\n"
    "  --seed S          the same seed gives the same text (1)\n"
    "  --threads N       for a model that was compiled for threads (1)\n"
    "  --bench           says how many tokens a second the model takes in and gives; TEXT may be left out\n"
    "  --prompt N        of --bench: tokens that the model takes in (128)\n"
#ifdef LLM_WEIGHTS
    "  --weights FILE    the model's weights (" LLM_WEIGHTS ")\n"
#endif
    ;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  Sampling sampling;
  std::int64_t tokens = 200, context = 1024, threads = 1, prompt = 128;
  bool bench = false, help = false;
  std::optional<std::string> text;
#ifdef LLM_WEIGHTS
  std::string weights = LLM_WEIGHTS;
#endif
};

template <class T>
void read(std::string_view option, std::string_view text, T& number, T least, T most) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= least && number <= most))
    throw Wrong(std::string(option) + " got '" + std::string(text) + "', which is no number from " + std::to_string(least) + " to " +
                std::to_string(most));
}

Options parse(std::span<char*> arguments) {
  Options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    const auto number = [&](auto& value, auto least, auto most) {
      if (++i == arguments.size()) throw Wrong(std::string(option) + " needs a number");
      using T = std::remove_reference_t<decltype(value)>;
      read(option, arguments[i], value, static_cast<T>(least), static_cast<T>(most));
    };
    constexpr std::int64_t kMany = 1 << 24;
    if (option == "--tokens") number(o.tokens, 0, kMany);
    else if (option == "--context") number(o.context, 1, kMany);
    else if (option == "--temperature") number(o.sampling.temperature, 0, 100);
    else if (option == "--top-k") number(o.sampling.top_k, 0, kMany);
    else if (option == "--top-p") number(o.sampling.top_p, 0, 1);
    else if (option == "--penalty") number(o.sampling.penalty, 0.01, 100);
    else if (option == "--seed") number(o.sampling.seed, 0, UINT64_MAX);
    else if (option == "--threads") number(o.threads, 1, 256);
    else if (option == "--prompt") number(o.prompt, 1, kMany);
    else if (option == "--bench") o.bench = true;
    else if (option == "--help" || option == "-h") o.help = true;
#ifdef LLM_WEIGHTS
    else if (option == "--weights") {
      if (++i == arguments.size()) throw Wrong("--weights needs a file");
      o.weights = arguments[i];
    }
#endif
    else if (option.starts_with("--"))
      throw Wrong("there is no option " + std::string(option));
    else if (o.text) throw Wrong("there are two texts; quote it if it has spaces");
    else o.text = option;
  }
  if (!o.text && !o.bench && !o.help) throw Wrong("there is no text to continue");
  return o;
}

/// Tokens to stop at: the end of a text, as the usual vocabularies name it.
bool ends(const bpe::Tokenizer& tokenizer, std::int64_t id) {
  for (const char* name : {"<|end|>", "<|endoftext|>", "<|end_of_text|>", "</s>"}) {
    if (tokenizer.special(name) == id) return true;
  }
  return false;
}

void say(const bpe::Tokenizer& tokenizer, std::int64_t id) {
  if (const auto bytes = tokenizer.bytes(id)) std::fwrite(bytes->data(), 1, bytes->size(), stdout);
  else std::printf("<%lld>", static_cast<long long>(id));  // of a larger vocabulary, as those of random weights are
  std::fflush(stdout);
}

int continue_text(const Options& options, const bpe::Tokenizer& tokenizer, Decoder& decoder) {
  std::vector<std::int64_t> tokens = tokenizer.encode(*options.text);
  if (tokens.empty()) throw Wrong("the text is empty");
  Sampler sampler(options.sampling);
  std::fputs(options.text->c_str(), stdout);
  std::span<const float> logits = decoder.append(tokens);
  const char* why = "";
  for (std::int64_t n = 0; n < options.tokens; ++n) {
    tokens.push_back(sampler.pick(logits, tokens));
    if (ends(tokenizer, tokens.back())) break;
    say(tokenizer, tokens.back());
    if (n + 1 == options.tokens) break;
    if (decoder.size() == decoder.capacity()) {
      why = "llm: the context is full; --context makes it larger\n";
      break;
    }
    logits = decoder.append(std::span(tokens).last(1));
  }
  std::fputc('\n', stdout);
  std::fputs(why, stderr);
  return 0;
}

int bench(const Options& options, const bpe::Tokenizer& tokenizer, Decoder& decoder) {
  std::vector<std::int64_t> tokens;
  if (options.text) {
    tokens = tokenizer.encode(*options.text);
  } else {
    for (std::int64_t i = 0; i < options.prompt; ++i) tokens.push_back((i * 7919 + 1) % decoder.vocabulary());
  }
  const std::int64_t steps = std::min(options.tokens, decoder.capacity() - static_cast<std::int64_t>(tokens.size()));
  decoder.append(std::span(tokens).first(1));  // weights come into memory
  decoder.reset();
  Sampler sampler(options.sampling);
  using Clock = std::chrono::steady_clock;
  const auto report = [](const char* what, std::int64_t count, Clock::time_point since) {
    const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
    std::printf("%s %lld tokens in %.3f s: %.2f tokens/s\n", what, static_cast<long long>(count), seconds,
                static_cast<double>(count) / seconds);
    std::fflush(stdout);
  };
  Clock::time_point since = Clock::now();
  std::span<const float> logits = decoder.append(tokens);
  report("prefill:", static_cast<std::int64_t>(tokens.size()), since);
  since = Clock::now();
  for (std::int64_t n = 0; n < steps; ++n) {
    tokens.push_back(sampler.pick(logits, tokens));
    logits = decoder.append(std::span(tokens).last(1));
  }
  report("decode: ", steps, since);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse({argv + 1, argv + argc});
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
#ifdef LLM_WEIGHTS
  const Mapped weights(options.weights);
  if (weights.size() != llm_model()->weights_bytes)
    throw std::runtime_error(options.weights + " has " + std::to_string(weights.size()) + " bytes, and the model's weights " +
                             std::to_string(llm_model()->weights_bytes) + ": is it of another model?");
  llm::llm_weights = weights.data();
#endif
  std::unique_ptr<onnxc::ThreadPool> pool;
  onnxc_executor executor{};
  if (options.threads > 1) {
    pool = std::make_unique<onnxc::ThreadPool>(static_cast<int>(options.threads));
    executor = pool->executor();
  }
  const bpe::Tokenizer tokenizer(kMerges);
  Decoder decoder(*llm_model(), options.context, pool ? &executor : nullptr);
  return options.bench ? bench(options, tokenizer, decoder) : continue_text(options, tokenizer, decoder);
} catch (const Wrong& error) {
  std::fprintf(stderr, "llm: %s\n%s", error.what(), kUsage);
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "llm: %s\n", error.what());
  return 1;
}
